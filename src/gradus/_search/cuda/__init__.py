"""The search on an NVIDIA GPU: thousands of networks at once, each with the result that the CPU gives."""

from __future__ import annotations

from gradus._search.cuda.front import BatchProgress, run_many

__all__ = ["BatchProgress", "run_many"]
