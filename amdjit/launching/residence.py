"""How many workgroups of a kernel a device runs at the same time.

Cooperative launches must not have more, and launches with grid strides need no more.
"""

from __future__ import annotations

from amdjit.abi.launch_shape import Extent, LaunchShape
from amdjit.compiled_kernel import CompiledKernel, max_active_blocks, resident_workgroups
from amdjit.diagnostics import LaunchError
from amdjit.runtime.device import Device

__all__ = [
    "check_cooperative",
    "check_strides",
    "max_active_blocks",
    "resident_workgroups",
    "waits_for_grid",
]


def check_cooperative(compiled: CompiledKernel, device: Device, shape: LaunchShape) -> None:
    """Raise LaunchError if the device cannot run all workgroups at the same time."""
    limit = resident_workgroups(compiled, device, shape.block, shape.dynamic_lds)
    if shape.workgroups <= limit:
        return
    why = "it calls sync.grid()" if waits_for_grid(compiled) else "cooperative=True"
    raise LaunchError(
        f"{compiled.name}: all workgroups of this launch run at the same time ({why}), and "
        f"{device.name} holds {limit} of {_text(shape.block)} work-items: "
        f"{limit // device.multiprocessor_count} on each of {device.multiprocessor_count} "
        f"multiprocessors. The grid {_text(shape.grid)} has {shape.workgroups}. Launch at "
        f"most {compiled.name}.max_cooperative_grid(block) workgroups, and let each work-item do "
        f"more than one element; {compiled.name}.forall(n, grid_stride=True) chooses such a grid."
    )


def waits_for_grid(compiled: CompiledKernel) -> bool:
    """Return whether a kernel waits for all workgroups, so that its launches are cooperative."""
    return compiled.cooperative


def _text(extent: Extent) -> str:
    x, y, z = extent
    return str(x) if y == z == 1 else str(extent)


def check_strides(compiled: CompiledKernel) -> None:
    """Raise LaunchError for a kernel without a grid-stride loop: one that never reads the size of
    the grid cannot have one."""
    if not compiled.asks_for_grid:
        name = compiled.name
        raise LaunchError(
            f"{name}.forall(n, grid_stride=True): {name} never asks how large the grid is, so each "
            "work-item would do one element and leave the others. Write "
            "`for i in range(amdjit.grid(1), n, amdjit.gridsize(1)):`, or launch without "
            "grid_stride."
        )
