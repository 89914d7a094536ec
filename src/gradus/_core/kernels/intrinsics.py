"""Single machine instructions that Numba has no name for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model

__all__ = ["by_reference", "leading_zeros", "pointer", "popcount", "trailing_zeros"]


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


class _Reference(types.Type):  # type: ignore[misc]  # Numba has no types
    """A named tuple that stays where it is."""

    def __init__(self, fields: Any) -> None:
        self.fields = fields
        super().__init__(f"Reference({fields.instance_class.__name__})")

    @property
    def key(self) -> Any:
        """What equal types share."""
        return self.fields


@register_model(_Reference)
class _ReferenceModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, reference: Any) -> None:
        super().__init__(manager, reference, manager[reference.fields].get_value_type().as_pointer())


@intrinsic
def by_reference(typing_context: Any, fields: Any) -> Any:
    """Where a named tuple is: a piece of a kernel that is given this and not the tuple compiles in half the time."""
    # A tuple of arrays is handed on as some 200 numbers, and Numba writes, and LLVM reads, all of them for every call.

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = cgutils.alloca_once(builder, arguments[0].type)
        builder.store(arguments[0], place)
        return place

    return _Reference(fields)(fields), generate


@infer_getattr
class _ReferenceAttributes(AttributeTemplate):  # type: ignore[misc]
    key = _Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:
        return reference.fields.types[reference.fields.fields.index(name)]


@lower_getattr_generic(_Reference)
def _read_field(context: Any, builder: Any, reference: Any, place: Any, name: str) -> Any:
    number = reference.fields.fields.index(name)
    field = builder.load(cgutils.gep_inbounds(builder, place, 0, number))
    return impl_ret_borrowed(context, builder, reference.fields.types[number], field)
