"""The search on an NVIDIA GPU: thousands of networks at once, with the same results as on the CPU."""

from gradus._search.cuda.run import run_many

__all__ = ["run_many"]
