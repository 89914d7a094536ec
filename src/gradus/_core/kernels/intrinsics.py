"""Single machine instructions that Numba has no name for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["leading_zeros", "pointer", "popcount", "trailing_zeros"]


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """Count the one bits of a 64-bit word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Position of the lowest one bit of a 64-bit word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def pointer(typing_context: Any, array: Any) -> Any:
    """Address of an array's data as a bare pointer that can be indexed."""
    # Numba counts references to an array wherever it is passed on or taken out of a tuple, even in the inner loop; a pointer
    # carries no count. Whoever holds the array must outlive it.

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        return struct.data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def leading_zeros(typing_context: Any, word: Any) -> Any:
    """Zero bits above the highest one bit of a 64-bit word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate
