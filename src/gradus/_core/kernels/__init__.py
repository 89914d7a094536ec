"""Compiled code: Numba with a cache, single machine instructions, and a clock that stands still while they compile."""
