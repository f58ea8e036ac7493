"""What a wave's registers hold when it starts (LLVM AMDGPU guide, "Initial Kernel Execution
State")."""

from __future__ import annotations

from math import prod

from amdjit.code_object import Kernel
from amdjit.inspection.lanes.sets import ALL, ENTRY
from amdjit.inspection.lanes.state import Held, State
from amdjit.inspection.lanes.values import Value, each_lane, meet

__all__ = ["entry_state", "workgroup_shape"]

# v0 has the work-item's ids: x in bits 9:0, y in 19:10, z in 29:20.
_Y, _Z = 10, 20


def workgroup_shape(kernel: Kernel) -> tuple[int, int, int] | None:
    """Return the shape of workgroups for which addresses are found: the one that the kernel fixes;
    else one-dimensional ones, if it only asks for ids along x; else None."""
    required = kernel.metadata.required_workgroup_size
    if required is not None:
        return required
    if kernel.descriptor.workitem_id_components > 1:
        return None
    return (kernel.metadata.max_flat_workgroup_size, 1, 1)


def entry_state(kernel: Kernel, full: bool) -> State:
    """Return what is known when a wave starts. full: all of its lanes are active."""
    wide_masks = kernel.descriptor.wave_size == 64
    state = State(ALL if full else ENTRY, wide_masks=wide_masks)
    shape = workgroup_shape(kernel)
    ids = None if shape is None else _ids(shape, kernel.descriptor.wave_size)
    if ids is not None:
        state.vectors[0] = Held(ids, state.exec)
    return state


def _ids(shape: tuple[int, int, int], wave_size: int) -> Value | None:
    """Return the work-items' ids in any wave of a workgroup, None if lanes differ differently in
    different waves."""
    found: Value | None = None
    for first in range(0, prod(shape), wave_size):
        # Lanes beyond the workgroup are not there: they may hold anything.
        ids = each_lane([_id(number, shape) for number in range(first, first + wave_size)])
        found = ids if found is None else meet(found, ids)
        if found is None:
            return None
    return found


def _id(number: int, shape: tuple[int, int, int]) -> int:
    row, x = divmod(number, shape[0])
    z, y = divmod(row, shape[1])
    return x | y << _Y | z << _Z
