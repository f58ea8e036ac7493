"""Indices of local arrays and vectors that are outside, with the option `local_checks`.

LLVM keeps small local arrays in registers, where an index outside reads or writes another register,
or nothing: no access shows it. So the index is compared, and the emulator told
(`abi/local_indices.py`).

before: `a[i]` of 4 elements
after:  unless `i < 4` (unsigned): load a byte at `OUTSIDE + i`; then `a[i < 4 ? i : 0]`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amdjit.abi.local_indices import INDEX_BITS, OUTSIDE
from amdjit.lowering.abi import ArrayValue
from amdjit.lowering.conversions import resize
from amdjit.lowering.state import FunctionState
from amdjit.lowering.types import I8, I32, I64, PRIVATE_SPACE, constant_value, literal
from amdjit.types import Scalar, Type

__all__ = ["guarded_indices", "guarded_position"]

_Index = tuple[Any, Scalar]
# LLVM language reference, "branch_weights": an index outside is rare.
_RARE = (2000, 1)


def guarded_indices(
    state: FunctionState, array: ArrayValue, indices: Sequence[_Index], width: int
) -> list[_Index]:
    """Return the indices of an element of a local array, 0 where they are outside. width: of how
    many elements the last index is the first."""
    found = []
    for axis, (value, scalar) in enumerate(indices):
        last = axis == len(indices) - 1
        extent = resize(state.builder, array.extents[axis], array.type.index_type, I64)
        more = max(width, 1) - 1 if last else 0
        if more:
            extent = state.builder.intrinsic("llvm.usub.sat", extent, literal(I64, more))
        found.append((_guarded(state, value, scalar, extent), scalar))
    return found


def guarded_position(state: FunctionState, value: Any, scalar: Type, count: int) -> Any:
    """Return the index of a vector's element, 0 where it is outside."""
    assert isinstance(scalar, Scalar)
    if not state.module.options.local_checks:
        return value
    return _guarded(state, value, scalar, literal(I64, count))


def _guarded(state: FunctionState, value: Any, scalar: Scalar, extent: Any) -> Any:
    builder = state.builder
    index = resize(builder, value, scalar, I64)
    known, size = constant_value(index), constant_value(extent)
    if known is not None and size is not None and 0 <= known < size:
        return value
    inside = builder.icmp_unsigned("<", index, extent)
    told, after = builder.append_basic_block("outside"), builder.append_basic_block("inside")
    builder.cbranch(inside, after, told).set_weights(_RARE)
    builder.position_at_end(told)
    most = literal(I64, (1 << INDEX_BITS) - 1)
    least = literal(I64, 1 - (1 << INDEX_BITS))
    bounded = builder.intrinsic("llvm.smax", builder.intrinsic("llvm.smin", index, most), least)
    address = builder.add(builder.trunc(bounded, I32), literal(I32, OUTSIDE))
    builder.read(I8, builder.inttoptr(address, PRIVATE_SPACE), 1, volatile=True)
    builder.branch(after)
    builder.position_at_end(after)
    return builder.choose(inside, value, literal(value.type, 0))
