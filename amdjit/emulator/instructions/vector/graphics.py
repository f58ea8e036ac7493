"""Cube map coordinates and the specular multiplication."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.expressions.nans import settled
from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import Emitter, VectorOp, vector_ops
from amdjit.emulator.wave.operands import flush_denormals


def _absolute(b: Builder, x: Value) -> Value:
    return b.intrinsic("fabs", x)


def _axes(b: Builder, x: Value, y: Value, z: Value) -> tuple[Value, Value]:
    """Return where z has the largest magnitude, and where y's is at least x's. Denormals are zeros
    in every mode (captured on a gfx1201)."""
    sizes = [_absolute(b, flush_denormals(b, value)) for value in (x, y, z)]
    by_z = b.and_(b.compare("oge", sizes[2], sizes[0]), b.compare("oge", sizes[2], sizes[1]))
    return by_z, b.compare("oge", sizes[1], sizes[0])


def _choose(b: Builder, axes: tuple[Value, Value], by_x: Value, by_y: Value, by_z: Value) -> Value:
    return b.select(axes[0], by_z, b.select(axes[1], by_y, by_x))


def _negative(b: Builder, x: Value) -> Value:
    return b.compare("olt", flush_denormals(b, x), b.const(x, 0.0))


def _negated(b: Builder, x: Value) -> Value:
    return b.emit(x.type, f"fneg {x.type} {x.text}")


def _quiet(b: Builder, x: Value) -> Value:
    return settled(b, x, [x])


def _face(b: Builder, x: Value, y: Value, z: Value) -> Value:
    faces = [
        b.select(_negative(b, value), b.const(x, 2.0 * number + 1), b.const(x, 2.0 * number))
        for number, value in enumerate((x, y, z))
    ]
    return _choose(b, _axes(b, x, y, z), *faces)


def _first_coordinate(b: Builder, x: Value, y: Value, z: Value) -> Value:
    by_x = b.select(_negative(b, x), z, _negated(b, z))
    by_z = b.select(_negative(b, z), _negated(b, x), x)
    return _quiet(b, _choose(b, _axes(b, x, y, z), by_x, x, by_z))


def _second_coordinate(b: Builder, x: Value, y: Value, z: Value) -> Value:
    by_y = b.select(_negative(b, y), _negated(b, z), z)
    return _quiet(b, _choose(b, _axes(b, x, y, z), _negated(b, y), by_y, _negated(b, y)))


def _major_axis(b: Builder, x: Value, y: Value, z: Value) -> Value:
    axis = flush_denormals(b, _choose(b, _axes(b, x, y, z), x, y, z))
    # -0 becomes +0, except where the sum of both is -0: if MODE rounds down.
    doubled = b.intrinsic("fma", axis, b.const(x, 2.0), b.const(x, 0.0))
    return settled(b, doubled, [axis])


def _specular(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """Return x * y, or the lowest number where y is that, -inf or NaN, or z is not positive."""
    lowest = b.const(x, -3.4028234663852886e38)
    usable = b.and_(b.compare("ogt", y, lowest), b.compare("ogt", z, b.const(z, 0.0)))
    return b.select(usable, settled(b, b.binary("fmul", x, y), [x, y]), lowest)


VECTOR_GRAPHICS: Mapping[str, Emitter] = vector_ops(
    {
        "v_cubeid_f32": _face,
        "v_cubesc_f32": VectorOp(_first_coordinate, is_raw=True),
        "v_cubetc_f32": VectorOp(_second_coordinate, is_raw=True),
        "v_cubema_f32": _major_axis,
        "v_mullit_f32": _specular,
    }
)
