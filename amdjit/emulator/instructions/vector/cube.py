"""Cube map coordinates, the specular multiplication and the constants of trigonometric range
reduction."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.expressions.nans import settled
from amdjit.emulator.host.builder import Builder, Value, like
from amdjit.emulator.instructions.operation import Emitter, vector_ops
from amdjit.emulator.wave.frame import Frame

_TABLE = "aj_two_over_pi"
# 2 / pi = 0.b_1200 ... b_0 in binary, 1201 bits and three zeros (RDNA 4 ISA, V_TRIG_PREOP_F64).
_TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1d"
    "eb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b"
    "5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b"
    "0",
    16,
)


def _absolute(b: Builder, x: Value) -> Value:
    return b.intrinsic("fabs", x)


def _axes(b: Builder, x: Value, y: Value, z: Value) -> tuple[Value, Value]:
    """Return conditions: z has the largest magnitude; y is at least as large as x."""
    sizes = [_absolute(b, value) for value in (x, y, z)]
    by_z = b.and_(b.compare("oge", sizes[2], sizes[0]), b.compare("oge", sizes[2], sizes[1]))
    return by_z, b.compare("oge", sizes[1], sizes[0])


def _choose(b: Builder, axes: tuple[Value, Value], by_x: Value, by_y: Value, by_z: Value) -> Value:
    return b.select(axes[0], by_z, b.select(axes[1], by_y, by_x))


def _negative(b: Builder, x: Value) -> Value:
    return b.compare("olt", x, b.const(x, 0.0))


def _negated(b: Builder, x: Value) -> Value:
    return b.emit(x.type, f"fneg {x.type} {x.text}")


def _face(b: Builder, x: Value, y: Value, z: Value) -> Value:
    faces = [
        b.select(_negative(b, value), b.const(x, 2.0 * number + 1), b.const(x, 2.0 * number))
        for number, value in enumerate((x, y, z))
    ]
    return _choose(b, _axes(b, x, y, z), *faces)


def _first_coordinate(b: Builder, x: Value, y: Value, z: Value) -> Value:
    by_x = b.select(_negative(b, x), z, _negated(b, z))
    by_z = b.select(_negative(b, z), _negated(b, x), x)
    return _choose(b, _axes(b, x, y, z), by_x, x, by_z)


def _second_coordinate(b: Builder, x: Value, y: Value, z: Value) -> Value:
    by_y = b.select(_negative(b, y), _negated(b, z), z)
    return _choose(b, _axes(b, x, y, z), _negated(b, y), by_y, _negated(b, y))


def _major_axis(b: Builder, x: Value, y: Value, z: Value) -> Value:
    axis = _choose(b, _axes(b, x, y, z), x, y, z)
    return settled(b, b.binary("fmul", axis, b.const(x, 2.0)), [axis])


def _specular(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """x * y, or the lowest number if y is that, -inf or NaN, or z is not positive."""
    lowest = b.const(x, -3.4028234663852886e38)
    usable = b.and_(b.compare("ogt", y, lowest), b.compare("ogt", z, b.const(z, 0.0)))
    return b.select(usable, settled(b, b.binary("fmul", x, y), [x, y]), lowest)


def _power(b: Builder, exponent: Value) -> Value:
    """2 to an integer power as f64; the exponents here are those of normal numbers."""
    bits = b.shift("shl", b.add(exponent, b.const(exponent, 1023)), 52)
    return b.bitcast(bits, "double")


def _table_words(b: Builder, first: Value) -> list[Value]:
    """Return the dwords `first`, `first` + 1 and `first` + 2 of the fraction; behind its end they
    are 0."""
    words = [_TWO_OVER_PI << 12 >> 32 * (37 - index) & 0xFFFFFFFF for index in range(38)] + [
        0,
        0,
        0,
    ]
    entries = ", ".join(f"i32 {word}" for word in words)
    b.declarations[_TABLE] = f"@{_TABLE} = internal constant [{len(words)} x i32] [{entries}]"
    start = b.intrinsic("umin", first, b.const(first, 38))
    loaded = []
    for part in range(3):
        index = b.add(start, b.const(start, part))
        places = b.emit(
            like(index.type, "ptr"), f"getelementptr i32, ptr @{_TABLE}, {index.type} {index.text}"
        )
        full = Value(like(index.type, "i1"), "splat (i1 true)")
        loaded.append(_gather(b, places, full))
    return loaded


def _gather(b: Builder, places: Value, mask: Value) -> Value:
    result = like(places.type, "i32")
    lanes = places.type[1 : places.type.index(" ")]
    name = f"llvm.masked.gather.v{lanes}i32.v{lanes}p0"
    zero = Value(result, "zeroinitializer")
    return b.call(name, result, [places, mask, zero])


def _reduction_constant(frame: Frame, instruction: Instruction) -> None:
    """V_TRIG_PREOP_F64: 53 bits of 2 / pi, from the bit that the operand's exponent and segment
    say."""
    b = frame.builder
    number = b.bitcast(frame.source(instruction, 1), "i64")
    segment = b.resize(b.mask(frame.source(instruction, 2), 5), 64)
    exponent = b.mask(b.shift("lshr", number, 52), 11)
    beyond = b.intrinsic("usub.sat", exponent, b.const(exponent, 1077))
    shift = b.add(b.mul(segment, b.const(segment, 53)), beyond)
    words = _table_words(b, b.resize(b.shift("lshr", shift, 5), 32))
    bit = b.mask(shift, 5)
    high, low = b.concat_bits(words[1], words[0]), b.shift("shl", b.resize(words[2], 64), 32)
    spill = b.shift("lshr", b.shift("lshr", low, 1), b.sub(b.const(bit, 63), bit))
    mantissa = b.shift("lshr", b.or_(b.shift("shl", high, bit), spill), 11)
    scale = b.sub(b.const(shift, -53), shift)
    large = b.compare("uge", exponent, b.const(exponent, 1968))
    scale = b.add(scale, b.select(large, b.const(scale, 128), b.const(scale, 0)))
    # Two steps, of which only the second one rounds: the scale may be below the exponents of normal
    # numbers.
    scale = b.intrinsic("smax", scale, b.const(scale, -1400))
    first = b.shift("ashr", scale, 1)
    value = b.binary("fmul", b.convert("uitofp", mantissa, "double"), _power(b, first))
    frame.write(instruction, 0, b.binary("fmul", value, _power(b, b.sub(scale, first))))


VECTOR_CUBE: Mapping[str, Emitter] = {
    **vector_ops(
        {
            "v_cubeid_f32": _face,
            "v_cubesc_f32": _first_coordinate,
            "v_cubetc_f32": _second_coordinate,
            "v_cubema_f32": _major_axis,
            "v_mullit_f32": _specular,
        }
    ),
    "v_trig_preop_f64": _reduction_constant,
}
