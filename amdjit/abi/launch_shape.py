"""The shape of a launch: the value that every device takes, and the checks that make it."""

from __future__ import annotations

import math
import operator
from typing import NamedTuple

from amdjit.diagnostics.errors import LaunchError
from amdjit.target import Target

Extent = tuple[int, int, int]

AXES = "xyz"
# HIP's hipDeviceProp_t::maxGridSize on AMD devices, in workgroups.
GRID_LIMITS: Extent = (2**31 - 1, 65535, 65535)
# `amdjit.grid` is an i32 that must not wrap. The dispatch packet could count twice as many.
WORK_ITEM_LIMIT = 2**31 - 1
# A grid of this many workgroups is within every limit, whatever its shape.
_SMALL_GRID = 65535


class LaunchShape(NamedTuple):
    """A launch besides its kernel, its arguments and its stream: what devices are asked for."""

    grid: Extent
    """The workgroups along x, y, z."""
    block: Extent
    """The work-items of a workgroup along x, y, z."""
    dynamic_lds: int = 0
    """The bytes of LDS that a workgroup gets besides those that the kernel was compiled with."""
    cooperative: bool = False
    """Whether all workgroups run at the same time, so that they may wait for each other."""

    @property
    def items(self) -> int:
        """The work-items of a workgroup."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def workgroups(self) -> int:
        """The workgroups of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def dimensions(self) -> int:
        """How many dimensions are in use."""
        sizes = [self.grid[axis] * self.block[axis] for axis in range(3)]
        return 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1


def check_launch(
    grid: object,
    block: object,
    dynamic_lds: object,
    target: Target,
    max_flat_workgroup_size: int,
    static_lds: int,
    required_block: Extent | None = None,
    cooperative: bool = False,
) -> LaunchShape:
    """Check a launch against the target and the kernel, and return its shape.

    grid, block: an int or up to three. dynamic_lds, static_lds: bytes. max_flat_workgroup_size: the
    most work-items that the kernel was compiled for. required_block: the exact shape, if one was
    compiled in. LaunchError says what to change.
    """
    whole, part = extent_of(grid, "grid"), extent_of(block, "block")
    _check_block(part, target, max_flat_workgroup_size, required_block)
    if math.prod(whole) > _SMALL_GRID:
        _check_grid(whole, part)
    return LaunchShape(whole, part, _checked_lds(dynamic_lds, static_lds, target), cooperative)


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


def _check_grid(grid: Extent, block: Extent) -> None:
    for axis, count, size, limit in zip(AXES, grid, block, GRID_LIMITS, strict=True):
        if count > limit:
            raise LaunchError(
                f"the grid {grid} has {count} workgroups along {axis}; at most {limit} are "
                "allowed there. "
                + (
                    "Put the largest axis on x."
                    if axis != "x"
                    else "Let each work-item do more than one element."
                )
            )
        if count * size > WORK_ITEM_LIMIT:
            raise LaunchError(
                f"the grid {grid} of blocks {block} has {count * size} work-items "
                f"along {axis}; at most "
                f"{WORK_ITEM_LIMIT} can be counted there. Let each work-item do more than one "
                "element."
            )


def _checked_lds(dynamic_lds: object, static_lds: int, target: Target) -> int:
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
    return dynamic
