"""`CudaDevice`: an NVIDIA GPU through CuPy, with memory, streams, and kernels compiled when first needed."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gradus._search.cuda.layout import DeviceLimits
from gradus._search.job import LOSS_CODES
from gradus.errors import MissingExtraError, SettingsError

__all__ = ["CudaDevice", "Device", "kernel_source"]

Array = npt.NDArray[Any]
SUCCESS, NOT_READY = 0, 600
"""Status codes of CUDA for a stream that has finished, and for one that has not."""


class Device(Protocol):
    """Something that runs batches: a GPU (see `CudaDevice`), or in the tests a CPU that imitates one."""

    name: str
    limits: DeviceLimits
    seconds_per_launch: float

    def queue(self) -> Any: ...
    def put(self, array: Array) -> Any: ...
    def empty(self, count: int, dtype: Any) -> Any: ...
    def get(self, buffer: Any, rows: Any = None) -> Array: ...
    def address(self, buffer: Any) -> int: ...
    def compile(self, constants: Mapping[str, int]) -> Any: ...
    def launch(
        self, queue: Any, constants: Mapping[str, int], batch: Array, blocks: int, lanes: int, shared_bytes: int
    ) -> None: ...
    def is_done(self, queue: Any) -> bool: ...


@functools.cache
def kernel_source() -> str:
    """Return the source of the kernel with all its includes as one text, after the numbers of the losses."""
    folder = resources.files("gradus._search.cuda")
    seen: set[str] = set()

    def flatten(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        text = (folder / name).read_text(encoding="utf-8").replace("#pragma once\n", "")
        return re.sub(r'#include "(\w+\.cuh)"\n', lambda found: flatten(found[1]), text)

    losses = ", ".join(f"{name.upper()} = {code}" for name, code in LOSS_CODES.items())
    return f"enum Loss {{ {losses} }};\n" + flatten("kernel.cu")


def _import_cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise MissingExtraError(
            "backend='cuda' needs CuPy, which is not installed; run pip install cupy-cuda12x, or use backend='cpu'."
        ) from error
    return cupy


class CudaDevice:
    """The GPU that CuPy has selected."""

    seconds_per_launch = 0.2

    def __init__(self) -> None:
        self.cupy = cupy = _import_cupy()
        try:
            self._device = device = cupy.cuda.Device()
            attributes = device.attributes
            properties = cupy.cuda.runtime.getDeviceProperties(device.id)
        except Exception as error:  # CuPy raises its own classes, some of which exist only if there is a driver
            raise SettingsError(
                f"backend='cuda' needs an NVIDIA GPU and CuPy finds none ({error}); use backend='cpu'."
            ) from error
        self.name = properties["name"].decode()
        self.limits = DeviceLimits(
            multiprocessors=attributes["MultiProcessorCount"],
            shared_bytes=attributes["MaxSharedMemoryPerMultiprocessor"],
            block_bytes=attributes["MaxSharedMemoryPerBlockOptin"],
            reserved_bytes=attributes.get("ReservedSharedMemoryPerBlock", 1024),
        )
        # Copies have priority over launches that wait for room.
        self._copies = cupy.cuda.Stream(non_blocking=True, priority=-1)
        self._kernels: dict[tuple[tuple[str, int], ...], Any] = {}

    def queue(self) -> Any:
        """Return a new stream, on which the launches of one batch follow each other."""
        return self.cupy.cuda.Stream(non_blocking=True)

    def put(self, array: Array) -> Any:
        """Copy an array to the GPU as bytes, one row per entry."""
        rows = np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)
        with self._copies:
            copied = self.cupy.asarray(rows)
        self._copies.synchronize()  # the launches that read it are on other streams
        return copied

    def empty(self, count: int, dtype: Any) -> Any:
        """Allocate `count` entries on the GPU."""
        return self.cupy.empty((count, np.dtype(dtype).itemsize), dtype=np.uint8)

    def get(self, buffer: Any, rows: Any = None) -> Array:
        """Copy a buffer, or some rows of it, back as bytes."""
        with self._copies:
            chosen = buffer if rows is None else buffer[rows if isinstance(rows, slice) else self.cupy.asarray(rows)]
            copied: Array = self.cupy.asnumpy(chosen)
        return copied

    def address(self, buffer: Any) -> int:
        """Return the address of a buffer in GPU memory."""
        return int(buffer.data.ptr)

    def compile(self, constants: Mapping[str, int]) -> Any:
        """Compile the kernel for these constants, or take it from CuPy's cache."""
        key = tuple(sorted(constants.items()))
        if key not in self._kernels:
            options = ("-std=c++17", *(f"-D{name}={number}" for name, number in key))
            with self._device:  # each thread has its own selected GPU
                kernel = self.cupy.RawModule(code=kernel_source(), options=options).get_function("run_batch")
                kernel.preferred_shared_memory_carveout = 100
                kernel.max_dynamic_shared_size_bytes = self.limits.block_bytes
            self._kernels[key] = kernel
        return self._kernels[key]

    def launch(
        self, queue: Any, constants: Mapping[str, int], batch: Array, blocks: int, lanes: int, shared_bytes: int
    ) -> None:
        """Start a launch of the kernel."""
        with queue:
            self.compile(constants)((blocks,), (lanes,), (batch,), shared_mem=shared_bytes)

    def is_done(self, queue: Any) -> bool:
        """Return whether everything on a stream has finished; raise if the GPU has failed."""
        status = int(self.cupy.cuda.runtime.streamQuery(queue.ptr))
        if status not in (SUCCESS, NOT_READY):
            queue.synchronize()  # raises the error; `queue.done` would be False forever
        return status == SUCCESS
