"""The search on an NVIDIA GPU: thousands of networks at once, each with the result that the CPU gives."""

from gradus._search.cuda.gpu_run import run_many

__all__ = ["run_many"]
