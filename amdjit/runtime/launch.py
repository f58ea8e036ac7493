"""The shape of a launch, checked before anything runs."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from amdjit.diagnostics.errors import LaunchError
from amdjit.late_methods import dataclass
from amdjit.runtime.device import Device, Extent, Function
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.checking.settings import Request
    from amdjit.diagnostics.errors import KernelFault
    from amdjit.diagnostics.sanitizer import SanitizerReport

AXES = "xyz"
# HIP's hipDeviceProp_t::maxGridSize on AMD devices, in workgroups.
GRID_LIMITS: Extent = (2**31 - 1, 65535, 65535)
# `amdjit.grid` is an i32 that must not wrap. The dispatch packet could count twice as many.
WORK_ITEM_LIMIT = 2**31 - 1
# A grid of this many workgroups is within every limit, whatever its shape.
_SMALL_GRID = 65535


class LaunchShape(NamedTuple):
    """The workgroups of a launch, and the work-items of a workgroup, along x, y, z."""

    grid: Extent
    block: Extent


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel with all that its launch needs besides the arguments.

    dynamic_lds: bytes. stream: the device's handle. cooperative: whether all workgroups run at the
    same time.
    """

    function: Function
    grid: Extent
    block: Extent
    dynamic_lds: int
    stream: Any
    cooperative: bool = False

    def start(self, device: Device, kernarg: bytearray) -> None:
        """Start the kernel with these explicit arguments."""
        device.launch(
            self.function,
            self.grid,
            self.block,
            self.dynamic_lds,
            kernarg,
            self.stream,
            self.cooperative,
        )

    def start_sanitized(
        self, device: Device, kernarg: bytearray, request: Request
    ) -> tuple[tuple[SanitizerReport, ...], KernelFault | None]:
        """Run the kernel to its end with checks; return what they found, and what stopped it."""
        return device.launch_sanitized(
            self.function,
            self.grid,
            self.block,
            self.dynamic_lds,
            kernarg,
            request,
            self.stream,
            self.cooperative,
        )


def check_launch(
    grid: object,
    block: object,
    dynamic_lds: object,
    target: Target,
    max_flat_workgroup_size: int,
    static_lds: int,
    required_block: Extent | None = None,
) -> LaunchShape:
    """Check a launch against the target and the kernel, and return it with three axes each.

    grid, block: an int or up to three. dynamic_lds, static_lds: bytes. max_flat_workgroup_size: the
    most work-items that the kernel was compiled for. required_block: the exact shape, if one was
    compiled in. LaunchError says what to change.
    """
    shape = LaunchShape(extent_of(grid, "grid"), extent_of(block, "block"))
    _check_block(shape.block, target, max_flat_workgroup_size, required_block)
    if math.prod(shape.grid) > _SMALL_GRID:
        _check_grid(shape)
    _check_lds(dynamic_lds, static_lds, target)
    return shape


def extent_of(value: object, what: str) -> Extent:
    """Return a grid or block with three axes, given as an int or one to three ints.

    LaunchError for anything else."""
    if type(value) is int and value > 0:
        return value, 1, 1
    entries = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(entries) <= 3:
        raise LaunchError(
            f"the {what} is {value!r}. Give one to three numbers: {what} = n, (x, y) or (x, y, z)."
        )
    numbers = [
        _extent(entry, axis, value, what) for entry, axis in zip(entries, AXES, strict=False)
    ]
    x, y, z = numbers + [1] * (3 - len(numbers))
    return x, y, z


def _extent(entry: object, axis: str, value: object, what: str) -> int:
    try:
        number = operator.index(entry)  # type: ignore[arg-type]
    except TypeError:
        hint = " Use // instead of / to divide." if isinstance(entry, float) else ""
        raise LaunchError(
            f"the {what} is {value!r}: {axis} is a {type(entry).__name__}, not an integer.{hint}"
        ) from None
    if number < 1:
        hint = (
            " There is nothing to compute: skip the launch."
            if what == "grid" and number == 0
            else ""
        )
        raise LaunchError(
            f"the {what} is {value!r}: {axis} is {number}, and must be at least 1.{hint}"
        )
    return number


def _check_block(block: Extent, target: Target, limit: int, required: Extent | None) -> None:
    x, y, z = block
    size = x * y * z
    if size <= limit <= target.max_workgroup_size and required is None:
        return
    if size > target.max_workgroup_size:
        raise LaunchError(
            f"the block {block} has {size} work-items; {target} runs at most "
            f"{target.max_workgroup_size} in a "
            f"workgroup. Make the block smaller and the grid larger."
        )
    if required is not None and block != required:
        raise LaunchError(
            f"the block is {block}, but the kernel was compiled for exactly block={required}. "
            f"Launch it with that block, or change block= in @amdjit.kernel."
        )
    if size > limit:
        raise LaunchError(
            f"the block {block} has {size} work-items, but the kernel was compiled for at most "
            f"{limit}. "
            f"Launch a smaller block, or write @amdjit.kernel(block={size})."
        )


def _check_grid(shape: LaunchShape) -> None:
    for axis, count, size, limit in zip(AXES, shape.grid, shape.block, GRID_LIMITS, strict=True):
        if count > limit:
            raise LaunchError(
                f"the grid {shape.grid} has {count} workgroups along {axis}; at most {limit} are "
                "allowed there. "
                + (
                    "Put the largest axis on x."
                    if axis != "x"
                    else "Let each work-item do more than one element."
                )
            )
        if count * size > WORK_ITEM_LIMIT:
            raise LaunchError(
                f"the grid {shape.grid} of blocks {shape.block} has {count * size} work-items "
                f"along {axis}; at most "
                f"{WORK_ITEM_LIMIT} can be counted there. Let each work-item do more than one "
                "element."
            )


def _check_lds(dynamic_lds: object, static_lds: int, target: Target) -> None:
    try:
        dynamic = operator.index(dynamic_lds)  # type: ignore[arg-type]
    except TypeError:
        raise LaunchError(
            f"dynamic LDS is {dynamic_lds!r}; give the number of bytes, an integer."
        ) from None
    if dynamic < 0:
        raise LaunchError(f"dynamic LDS is {dynamic} bytes; give 0 or more.")
    if static_lds + dynamic > target.lds_per_workgroup:
        parts = f"{static_lds} bytes of shared.array and {dynamic} bytes of dynamic LDS"
        raise LaunchError(
            f"the kernel needs {static_lds + dynamic} bytes of LDS ({parts}); a workgroup on "
            f"{target} has "
            f"{target.lds_per_workgroup}. Use smaller tiles, a smaller element type, or fewer "
            "buffers."
        )
