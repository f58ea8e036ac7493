"""Where a work-item stands: its ids, the extents of its workgroup and grid, its lane and wave.

Sources: LLVM AMDGPU guide, "Initial Kernel Execution State" and "Code Object V5 Metadata" (hidden
kernel arguments).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from amdjit.declarations import Coordinates, Emit, EmitContext, Property, device_function, intrinsic
from amdjit.types import VOID, Immediate, i32

MAX_WORKGROUP_SIZE = 1024
_AXES = "xyz"
Axis = Annotated[int, Immediate(0, 2)]

# Byte offsets of hidden_block_count_{x,y,z} (u32) and hidden_group_size_{x,y,z} (u16) among the
# implicit arguments: LLVM AMDGPU guide, "Code Object V5 Metadata".
_BLOCK_COUNT_OFFSETS = (0, 4, 8)
_GROUP_SIZE_OFFSETS = (12, 14, 16)


def _with_range(context: EmitContext, instruction: Any, first: int, last: int) -> Any:
    # LLVM drops sign extensions and tests of a step's sign once it knows the range of a value. Its
    # metadata names the number after the last one, which may wrap.
    end = last + 1 if last < i32.maximum else i32.minimum
    bounds = [context.constant(i32, first), context.constant(i32, end)]
    instruction.set_metadata("range", context.builder.module.add_metadata(bounds))
    return instruction


def _emit_work_item_id(context: EmitContext, axis: int) -> Any:
    limit = context.block[axis] if context.block else MAX_WORKGROUP_SIZE
    if limit == 1:
        return context.constant(i32, 0)
    call = context.call(f"llvm.amdgcn.workitem.id.{_AXES[axis]}", context.llvm_type(i32), [])
    return _with_range(context, call, 0, limit - 1)


def _emit_workgroup_id(context: EmitContext, axis: int) -> Any:
    call = context.call(f"llvm.amdgcn.workgroup.id.{_AXES[axis]}", context.llvm_type(i32), [])
    return _with_range(context, call, 0, i32.maximum)


def _emit_workgroup_size(context: EmitContext, axis: int) -> Any:
    if context.block:
        return context.constant(i32, context.block[axis])
    size = context.implicit_argument(_GROUP_SIZE_OFFSETS[axis], 16)
    return context.builder.zext(size, context.llvm_type(i32))


def _emit_grid_size(context: EmitContext, axis: int) -> Any:
    count = context.implicit_argument(_BLOCK_COUNT_OFFSETS[axis], 32)
    return _with_range(context, count, 1, i32.maximum)


def _emit_global_id(context: EmitContext, axis: int) -> Any:
    # A launch has fewer than 2**31 work-items along each axis (the runtime refuses others), so
    # nothing here wraps.
    flags = ("nuw", "nsw")
    first = context.builder.mul(
        _emit_workgroup_id(context, axis), _emit_workgroup_size(context, axis), flags=flags
    )
    return context.builder.add(first, _emit_work_item_id(context, axis), flags=flags)


def _emit_global_size(context: EmitContext, axis: int) -> Any:
    sizes = _emit_grid_size(context, axis), _emit_workgroup_size(context, axis)
    return context.builder.mul(*sizes, flags=("nuw", "nsw"))


def _emit_flat_id(context: EmitContext) -> Any:
    # x + size_x * (y + size_y * z): the order in which work-items fill the waves.
    flags = ("nuw", "nsw")
    flat = _emit_work_item_id(context, 2)
    for axis in (1, 0):
        rows = context.builder.mul(flat, _emit_workgroup_size(context, axis), flags=flags)
        flat = context.builder.add(rows, _emit_work_item_id(context, axis), flags=flags)
    return flat


def emit_lane_id(context: EmitContext) -> Any:
    """Emit the lane's number together with its range."""
    word = context.llvm_type(i32)
    ones = context.constant(i32, -1)
    lane = context.call("llvm.amdgcn.mbcnt.lo", word, [ones, context.constant(i32, 0)])
    if context.wavefront_size == 64:
        lane = context.call("llvm.amdgcn.mbcnt.hi", word, [ones, lane])
    return _with_range(context, lane, 0, context.wavefront_size - 1)


def _emit_wave_id(context: EmitContext) -> Any:
    # The waves of a workgroup hold consecutive work-items, so the number is the same in all lanes.
    # readfirstlane tells LLVM so, and everything computed from it stays in scalar registers.
    word = context.llvm_type(i32)
    shift = context.constant(i32, int(math.log2(context.wavefront_size)))
    wave = context.builder.lshr(_emit_flat_id(context), shift)
    return context.call("llvm.amdgcn.readfirstlane.i32", word, [wave])


def _emit_nothing(context: EmitContext, n: int) -> None:
    pass


def _emit_wavefront_size(context: EmitContext) -> Any:
    return context.constant(i32, context.wavefront_size)


@intrinsic(Emit(_emit_global_id))
def global_id(axis: Axis) -> i32:
    """Return the work-item's index in the whole grid: blockIdx * blockDim + threadIdx."""


@intrinsic(Emit(_emit_global_size))
def global_size(axis: Axis) -> i32:
    """Return the number of work-items in the whole grid along an axis: gridDim * blockDim."""


@intrinsic(Emit(_emit_flat_id))
def flat_work_item_id() -> i32:
    """Return the work-item's number in its workgroup, 0..1023, counted along x first."""


@intrinsic(Emit(emit_lane_id), isa="v_mbcnt_lo_u32_b32")
def lane_id() -> i32:
    """Return the lane's number in its wave (`llvm.amdgcn.mbcnt.lo` and `.hi`)."""


@intrinsic(Emit(_emit_wave_id))
def wave_id() -> i32:
    """Return the wave's number in its workgroup; the same in all lanes, hence scalar."""


@intrinsic(Emit(_emit_wavefront_size), name="wavefront_size")
def _wavefront_size() -> i32:
    """Return the number of lanes in a wave, 32 or 64, that the kernel is compiled for."""


@intrinsic(Emit(_emit_nothing), name="grid")
def _check_dimensions(n: Annotated[int, Immediate(1, 3)]) -> VOID:
    """Refuse numbers of dimensions other than 1, 2 and 3; emit no instruction."""


@device_function
def grid(n):
    """Return the work-item's index in the whole grid: an i32 for n = 1, a tuple of n i32 for n = 2
    or 3.

    Example, in a kernel:

        i = amdjit.grid(1)
        row, column = amdjit.grid(2)
    """
    _check_dimensions(n)
    if n == 1:
        return global_id(0)
    if n == 2:
        return global_id(0), global_id(1)
    return global_id(0), global_id(1), global_id(2)


@device_function
def gridsize(n):
    """Return the extents of the whole grid in work-items: an i32 for n = 1, a tuple of n i32 for n
    = 2 or 3.

    Example, in a kernel:

        for i in range(amdjit.grid(1), x.shape[0], amdjit.gridsize(1)): x[i] += 1
    """
    _check_dimensions(n)
    if n == 1:
        return global_size(0)
    if n == 2:
        return global_size(0), global_size(1)
    return global_size(0), global_size(1), global_size(2)


def _axis_property(name: str, emit: Callable[..., Any], axis: int, documentation: str) -> Property:
    def value() -> i32: ...

    value.__doc__ = documentation
    return Property(intrinsic(Emit(partial(emit, axis=axis)), name=f"{name}.{_AXES[axis]}")(value))


def _coordinates(name: str, emit: Callable[..., Any], documentation: str) -> Coordinates:
    return Coordinates(*(_axis_property(name, emit, axis, documentation) for axis in range(3)))


# Any, because type checkers read kernels as plain Python, where these are numbers.
threadIdx: Any = _coordinates(  # noqa: N816 (CUDA and HIP call it so)
    "threadIdx",
    _emit_work_item_id,
    "The work-item's index in its workgroup (`llvm.amdgcn.workitem.id.*`).",
)
blockIdx: Any = _coordinates(  # noqa: N816 (CUDA and HIP call it so)
    "blockIdx",
    _emit_workgroup_id,
    "The workgroup's index in the grid (`llvm.amdgcn.workgroup.id.*`).",
)
blockDim: Any = _coordinates(  # noqa: N816 (CUDA and HIP call it so)
    "blockDim",
    _emit_workgroup_size,
    "The work-items of a workgroup (hidden_group_size; a constant if compiled in).",
)
gridDim: Any = _coordinates(  # noqa: N816 (CUDA and HIP call it so)
    "gridDim", _emit_grid_size, "The workgroups of the grid (hidden_block_count)."
)
wavefront_size: Any = Property(_wavefront_size)
