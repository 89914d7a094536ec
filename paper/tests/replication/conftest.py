"""Made-up results."""

from __future__ import annotations

import pytest

from experiment_helpers import make_rows


@pytest.fixture(scope="session")
def made_up():
    """Return a maker of rows: accuracy as a function of (loss, size, sample)."""
    return make_rows
