"""How many workgroups of a kernel a device runs at the same time: what cooperative launches and
launches in grid strides need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amdjit.abi.launch_shape import Extent, LaunchShape, check_launch
from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import LaunchError
from amdjit.late import late
from amdjit.runtime.device import Device

if TYPE_CHECKING:
    from amdjit.code_object import resources
else:
    resources = late("amdjit.code_object.resources")

__all__ = [
    "check_cooperative",
    "check_strides",
    "max_active_blocks",
    "resident_workgroups",
    "waits_for_grid",
]


def max_active_blocks(compiled: CompiledKernel, block: object, dynamic_lds: int = 0) -> int:
    """Return how many workgroups of a block a workgroup processor holds at a time.

    Where there are no workgroup processors, how many a compute unit holds: one multiprocessor in
    HIP's words. dynamic_lds: bytes. LaunchError for a block or LDS that no launch can have.
    """
    kernel = compiled.linked.kernels[compiled.name]
    shape = check_launch(
        1,
        block,
        dynamic_lds,
        compiled.target,
        max_flat_workgroup_size=kernel.metadata.max_flat_workgroup_size,
        static_lds=kernel.metadata.group_segment_bytes,
        required_block=compiled.options.required_workgroup_size,
    )
    return resources.resident_workgroups(kernel, compiled.target, shape.items, shape.dynamic_lds)


def resident_workgroups(
    compiled: CompiledKernel, device: Device, block: object, dynamic_lds: int = 0
) -> int:
    """Return how many workgroups of a block the whole device holds at a time: the most of a
    cooperative launch."""
    return max_active_blocks(compiled, block, dynamic_lds) * device.multiprocessor_count


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
    """Raise LaunchError for a kernel that cannot go on in grid strides: it never asks how large
    the grid is."""
    if not compiled.asks_for_grid:
        name = compiled.name
        raise LaunchError(
            f"{name}.forall(n, grid_stride=True): {name} never asks how large the grid is, so each "
            "work-item would do one element and leave the others. Write "
            "`for i in range(amdjit.grid(1), n, amdjit.gridsize(1)):`, or launch without "
            "grid_stride."
        )
