"""The kernels that copy and convert device arrays."""

from __future__ import annotations

from amdjit.api import kernel
from amdjit.declarations import Form, SpecialForm
from amdjit.intrinsics.workitem import grid, gridsize
from amdjit.types import Const, i64

static_range = SpecialForm(Form.STATIC_RANGE, "A range of compile-time bounds.")


@kernel(warnings=False)
def gather(target, source, count, starts, shape, target_strides, source_strides):
    """Copy `count` units from the starts on; shape and strides count units, innermost axis
    first."""
    i = i64(grid(1))
    while i < count:
        rest = i
        into = starts[0]
        out_of = starts[1]
        for axis in static_range(len(shape)):
            index = rest % shape[axis]
            rest //= shape[axis]
            into += index * target_strides[axis]
            out_of += index * source_strides[axis]
        target[into] = source[out_of]
        i += i64(gridsize(1))


@kernel(warnings=False)
def convert(source, target, count, kind: Const, way: Const):
    """Convert `count` elements to `kind` by way of another type."""
    i = i64(grid(1))
    while i < count:
        target[i] = kind(way(source[i]))  # type: ignore[operator]
        i += i64(gridsize(1))
