"""Settings shared by the whole suite."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Compiling a kernel on first use takes seconds, so no example has a deadline. Runs are the same every time; the nightly job
# (pytest --hypothesis-profile=nightly) draws fresh examples, and more of them.
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("gradus", deadline=None, derandomize=True, suppress_health_check=QUIET)
settings.register_profile("nightly", deadline=None, max_examples=1000, suppress_health_check=QUIET)
settings.load_profile("gradus")

# A process started in the background may ignore Ctrl-C, and so would every process that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
