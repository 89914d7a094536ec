"""A CPU that imitates a GPU: the kernel's source compiled by the C++ compiler of this machine."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from gradus._search.cuda.device import kernel_source
from gradus._search.cuda.layout import DeviceLimits

COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")


class HostDevice:
    """Runs one lane after another; every launch is short, so that searches are saved and resumed often."""

    name = "this CPU"

    def __init__(self, folder: Path, limits: DeviceLimits, seconds_per_launch: float = 0.002) -> None:
        self.folder, self.limits, self.seconds_per_launch = folder, limits, seconds_per_launch
        self.launches = 0
        self.compiled: dict[tuple, ctypes.CDLL] = {}

    def queue(self):
        return None

    def put(self, array):
        return np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1).copy()

    def empty(self, count, dtype):
        # Poisoned: nothing may rely on fresh memory being zero.
        return np.full((count, np.dtype(dtype).itemsize), 0xA5, dtype=np.uint8)

    def get(self, buffer, rows=None):
        return np.array(buffer if rows is None else buffer[rows])

    def address(self, buffer):
        return buffer.ctypes.data

    def launch(self, queue, constants, batch, blocks, lanes, shared_bytes):
        assert shared_bytes <= self.limits.block_bytes
        self.launches += 1
        self.compile(constants).run_batch(ctypes.c_void_p(batch.ctypes.data), ctypes.c_uint32(blocks))

    def is_done(self, queue):
        return True

    def compile(self, constants) -> ctypes.CDLL:
        key = tuple(sorted(constants.items()))
        if key not in self.compiled:
            stem = self.folder / "_".join(f"{name}{number}" for name, number in key)
            stem.with_suffix(".cpp").write_text(kernel_source())
            defines = [f"-D{name}={number}" for name, number in key]
            command = [COMPILER, "-std=c++17", "-O1", "-Wall", "-Werror", "-fno-strict-aliasing", "-fPIC", "-shared"]
            command += [*defines, f"{stem}.cpp", "-o", f"{stem}.so"]
            subprocess.run(command, check=True, capture_output=True, text=True)
            self.compiled[key] = ctypes.CDLL(f"{stem}.so")
        return self.compiled[key]
