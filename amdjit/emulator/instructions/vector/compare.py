"""VALU comparisons: a lane mask goes to an SGPR or VCC, or (`cmpx`) to EXEC."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import Builder, Value, bits_of, constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import FULL_MASK
from amdjit.isa.floats.comparisons import (
    FLOAT_PREDICATES,
    INTEGER_PREDICATES,
    compare,
    predicate_of,
)
from amdjit.isa.instruction import Instruction
from amdjit.late_methods import dataclass

# Returns the outcome of a comparison in each lane.
Test = Callable[[Frame, Instruction], Value]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two operands of the same type."""

    name: str

    def __call__(self, frame: Frame, instruction: Instruction) -> Value:
        """Return the outcome in each lane."""
        first, second = _source_places(instruction)
        left, right = (frame.source(instruction, index) for index in (first, second))
        predicate = predicate_of(self.name, instruction.opcode.operands[first].type)
        return compare(frame.builder, predicate, left, right)


def _source_places(instruction: Instruction) -> tuple[int, int]:
    """Return the indices of the operands that are compared: gfx9's V_CMPX has two destinations."""
    roles = [spec.role for spec in instruction.opcode.operands]
    return roles.index("src0"), roles.index("src1")


def _always(outcome: bool) -> Test:
    def test(frame: Frame, instruction: Instruction) -> Value:
        return constant(FULL_MASK.type, int(outcome))

    return test


def _is_of_class(frame: Frame, instruction: Instruction) -> Value:
    """V_CMP_CLASS: whether operand 1 is of one of the classes that the bits of operand 2 name."""
    # The test is on bits: denormals stay denormals in every mode.
    first, second = _source_places(instruction)
    value = frame.unflushed_source(instruction, first)
    wanted = frame.source(instruction, second)
    return classify(frame.builder, value, frame.builder.resize(wanted, 32))


_MANTISSA_BITS = {16: 10, 32: 23, 64: 52}


def classify(b: Builder, value: Value, wanted: Value) -> Value:
    """Return whether values are of a class in the mask `wanted`: sNaN, qNaN, -Inf, -normal,
    -denormal, -0, +0, +denormal, +normal, +Inf (bits 0 to 9)."""
    width = bits_of(value.type)
    mantissa = _MANTISSA_BITS[width]
    bits = b.bitcast(value, f"i{width}")
    magnitude = b.and_(bits, b.const(bits, (1 << (width - 1)) - 1))
    negative = b.compare("slt", bits, b.const(bits, 0))
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    # The class of the magnitude as the bit of the positive class; the sign mirrors it.
    kind = b.select(_below(b, magnitude, infinity), b.const(wanted, 8), b.const(wanted, 9))
    kind = b.select(_below(b, magnitude, 1 << mantissa), b.const(wanted, 7), kind)
    kind = b.select(_below(b, magnitude, 1), b.const(wanted, 6), kind)
    kind = b.select(negative, b.sub(b.const(wanted, 11), kind), kind)
    quiet = b.select(
        _below(b, magnitude, infinity | 1 << (mantissa - 1)), b.const(wanted, 0), b.const(wanted, 1)
    )
    kind = b.select(_below(b, magnitude, infinity + 1), kind, quiet)
    return b.compare("ne", b.mask(b.shift("lshr", wanted, kind), 1), b.const(wanted, 0))


def _below(b: Builder, value: Value, limit: int) -> Value:
    return b.compare("ult", value, b.const(value, limit))


def _to_register(test: Test) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        frame.write_conditions(instruction.operands[0], test(frame, instruction))

    return emit


def _to_exec(test: Test) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        bits = frame.builder.mask_bits(test(frame, instruction))
        active = frame.registers.exec_bits()
        if active != constant("i32", -1):
            bits = frame.builder.and_(bits, active)
        frame.write_half_mask(frame.registers.exec_slot, bits)

    return emit


def _to_both(test: Test) -> Emitter:
    """V_CMPX of gfx9 writes its destination, too (CDNA 3 ISA, V_CMPX_LT_F32)."""
    to_exec = _to_exec(test)

    def emit(frame: Frame, instruction: Instruction) -> None:
        frame.write_conditions(instruction.operand("vdst"), test(frame, instruction))
        to_exec(frame, instruction)

    return emit


_INTEGER_CODES = tuple(f"{sign}{width}" for sign in "iu" for width in (16, 32, 64))
_TESTS: Mapping[str, Test] = {
    **{f"{name}_f{width}": Comparison(name) for name in FLOAT_PREDICATES for width in (16, 32, 64)},
    **{
        f"{name}_{sign}{width}": Comparison(name)
        for name in INTEGER_PREDICATES
        for sign in "iu"
        for width in (16, 32, 64)
    },
    **{f"class_f{width}": _is_of_class for width in (16, 32, 64)},
    **{
        f"{name}_{code}": _always(name == "t")
        for name in "ft"
        for code in ("f16", "f32", "f64", *_INTEGER_CODES)
    },
    **{f"tru_{code}": _always(True) for code in ("f16", "f32", "f64")},
}

VECTOR_COMPARE: Mapping[str, Emitter] = {
    **{f"v_cmp_{name}": _to_register(test) for name, test in _TESTS.items()},
    **{f"v_cmpx_{name}": _to_exec(test) for name, test in _TESTS.items()},
}
GFX9_COMPARE: Mapping[str, Emitter] = {
    f"v_cmpx_{name}": _to_both(test) for name, test in _TESTS.items()
}
