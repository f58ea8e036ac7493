"""Transcendental instructions, for each lane and for the wave (pseudo-scalar), and the constants of
trigonometric range reduction."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value, bits_of, element_of, like, vector
from amdjit.emulator.instructions.lanes.permute import first_lane, is_vector_register
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.vector.approximate import HALF_EXPONENTIAL, approximate_symbol
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import modify_input
from amdjit.isa.approximations import SINGLE_RULES
from amdjit.isa.arithmetic import ELEMENTS
from amdjit.isa.floats.nans import is_nan, quieted, settled
from amdjit.isa.instruction import Instruction

_SINGLES, _HALVES = vector("float"), vector("half")


def _approximate(frame: Frame, name: str, operand: Value) -> Value:
    """Return what the instruction returns; a half is the float of the same rule, rounded once."""
    b = frame.builder
    single = b.convert("fpext", operand, "float")
    if name == "exp" and element_of(operand.type) == "half":
        return frame.native(HALF_EXPONENTIAL, _HALVES, [single])
    result = frame.native(approximate_symbol(name), _SINGLES, [single])
    return b.convert("fptrunc", result, element_of(operand.type))


def _with_nans(frame: Frame, result: Value, operand: Value, instruction: Instruction) -> Value:
    """Return a result with the NaN that the operand is: made quiet, but not on gfx11 while MODE's
    IEEE is 0 (captured on a gfx1100)."""
    if not instruction.opcode.instruction_set.has_nan_modes:
        return settled(frame.builder, result, [operand])

    def quieting(b: Builder, x: Value) -> Value:
        quiet = b.bitcast(quieted(b, x), element_of(x.type))
        return b.select(is_nan(b, x), quiet, result)

    def passing(b: Builder, x: Value) -> Value:
        return b.select(is_nan(b, x), x, result)

    return frame.by_ieee(quieting, passing, [operand])


def _vector(name: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        operand = frame.source(instruction, 1)
        result = _approximate(frame, name, operand)
        result = _with_nans(frame, result, operand, instruction)
        frame.write(instruction, 0, frame.without_overflow(result, [operand], instruction))

    return emit


def _scalar(name: str) -> Emitter:
    """Return the emitter of a pseudo-scalar form: one number, to an SGPR."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        modifiers = instruction.modifiers
        operand = _pseudo_scalar_source(frame, instruction)
        operand = modify_input(b, operand, bool(modifiers.neg & 1), bool(modifiers.abs & 1))
        result = b.extract(_approximate(frame, name, b.splat(operand)), 0)
        result = settled(b, result, [operand])
        result = frame.without_overflow(result, [operand], instruction)
        result = frame.flushed_result(frame.modified_result(result, instruction), instruction)
        frame.write_scalar(instruction.operands[0], result)

    return emit


def _pseudo_scalar_source(frame: Frame, instruction: Instruction) -> Value:
    """Read an SGPR or a constant, or the first active lane of a VGPR.

    The ISA document has no VGPR there (7.10), but the assembler accepts one. That the lane is the
    one of V_READFIRSTLANE_B32 is an assumption.
    """
    source = instruction.operands[1]
    if not is_vector_register(source):
        return frame.scalar_source(instruction, 1)
    b, element = frame.builder, ELEMENTS[instruction.opcode.operands[1].type]
    bits = b.resize(first_lane(frame, source), bits_of(element))
    return frame.flushed_source(b.bitcast(bits, element))


_TABLE = "aj_two_over_pi"
# 2 / pi = 0.b_1200 ... b_0 in binary, 1201 bits and three zeros (RDNA 4 ISA, V_TRIG_PREOP_F64).
_TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1d"
    "eb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b"
    "5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b"
    "0",
    16,
)


def _power(b: Builder, exponent: Value) -> Value:
    """Return 2 to an integer power as f64; the powers here are normal numbers."""
    bits = b.shift("shl", b.add(exponent, b.const(exponent, 1023)), 52)
    return b.bitcast(bits, "double")


def _table_words(b: Builder, first: Value) -> list[Value]:
    """Return the dwords `first`, `first` + 1 and `first` + 2 of the fraction; past its end they are
    0."""
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
    """V_TRIG_PREOP_F64: 53 bits of 2 / pi, from the bit that the operand's exponent and the segment
    select."""
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
    # In two steps, of which only the second one rounds: the scale may be below the exponents of
    # normal numbers.
    scale = b.intrinsic("smax", scale, b.const(scale, -1400))
    first = b.shift("ashr", scale, 1)
    value = b.binary("fmul", b.convert("uitofp", mantissa, "double"), _power(b, first))
    frame.write(instruction, 0, b.binary("fmul", value, _power(b, b.sub(scale, first))))


_IN_LANES: Mapping[str, Emitter] = {
    f"v_{name}_{code}": _vector(name) for name in SINGLE_RULES for code in ("f16", "f32")
}
_FOR_THE_WAVE: Mapping[str, Emitter] = {
    f"v_s_{name}_{code}": _scalar(name)
    for name in ("exp", "log", "rcp", "rsq", "sqrt")
    for code in ("f16", "f32")
}

VECTOR_TRANSCENDENTAL: Mapping[str, Emitter] = {
    **_IN_LANES,
    **_FOR_THE_WAVE,
    "v_rcp_iflag_f32": _vector("rcp"),
    "v_trig_preop_f64": _reduction_constant,
}
