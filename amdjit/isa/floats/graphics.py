"""Cube map coordinates and the specular multiplication."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.isa.arithmetic import Arithmetic, Value
from amdjit.isa.floats.expressions import flush_denormals
from amdjit.isa.floats.nans import settled
from amdjit.isa.integer_rows import Row


def _absolute(b: Arithmetic, x: Value) -> Value:
    return b.intrinsic("fabs", x)


def _axes(b: Arithmetic, x: Value, y: Value, z: Value) -> tuple[Value, Value]:
    """Return where z has the largest magnitude, and where y's is at least x's. Denormals are zeros
    in every mode (captured on a gfx1201)."""
    sizes = [_absolute(b, flush_denormals(b, value)) for value in (x, y, z)]
    by_z = b.and_(b.compare("oge", sizes[2], sizes[0]), b.compare("oge", sizes[2], sizes[1]))
    return by_z, b.compare("oge", sizes[1], sizes[0])


def _choose(
    b: Arithmetic, axes: tuple[Value, Value], by_x: Value, by_y: Value, by_z: Value
) -> Value:
    return b.select(axes[0], by_z, b.select(axes[1], by_y, by_x))


def _negative(b: Arithmetic, x: Value) -> Value:
    return b.compare("olt", flush_denormals(b, x), b.const(x, 0.0))


def _quiet(b: Arithmetic, x: Value) -> Value:
    return settled(b, x, [x])


def _face(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    faces = [
        b.select(_negative(b, value), b.const(x, 2.0 * number + 1), b.const(x, 2.0 * number))
        for number, value in enumerate((x, y, z))
    ]
    return _choose(b, _axes(b, x, y, z), *faces)


def _first_coordinate(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    by_x = b.select(_negative(b, x), z, b.negate(z))
    by_z = b.select(_negative(b, z), b.negate(x), x)
    return _quiet(b, _choose(b, _axes(b, x, y, z), by_x, x, by_z))


def _second_coordinate(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    by_y = b.select(_negative(b, y), b.negate(z), z)
    return _quiet(b, _choose(b, _axes(b, x, y, z), b.negate(y), by_y, b.negate(y)))


def _major_axis(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    axis = flush_denormals(b, _choose(b, _axes(b, x, y, z), x, y, z))
    # -0 becomes +0, except where the sum of both is -0: if MODE rounds down.
    doubled = b.intrinsic("fma", axis, b.const(x, 2.0), b.const(x, 0.0))
    return settled(b, doubled, [axis])


def _specular(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """Return x * y, or the lowest number where y is that, -inf or NaN, or z is not positive."""
    lowest = b.const(x, -3.4028234663852886e38)
    usable = b.and_(b.compare("ogt", y, lowest), b.compare("ogt", z, b.const(z, 0.0)))
    return b.select(usable, settled(b, b.binary("fmul", x, y), [x, y]), lowest)


GRAPHICS: Mapping[str, Row] = {
    "v_cubeid_f32": Row(_face),
    "v_cubesc_f32": Row(_first_coordinate, is_raw=True),
    "v_cubetc_f32": Row(_second_coordinate, is_raw=True),
    "v_cubema_f32": Row(_major_axis),
    "v_mullit_f32": Row(_specular),
}
