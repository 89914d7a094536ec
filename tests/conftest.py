"""Settings shared by the whole suite."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Compiling a kernel on first use takes seconds, so no example has a deadline; runs are the same every time.
settings.register_profile(
    "gradus", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("gradus")

# A process started in the background may ignore Ctrl-C, and so would every process that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
