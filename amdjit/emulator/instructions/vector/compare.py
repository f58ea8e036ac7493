"""VALU comparisons: a lane mask to an SGPR or VCC, or (`cmpx`) to EXEC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.decoder.instruction import Instruction
from amdjit.emulator.expressions.float_extremes import compare
from amdjit.emulator.host.builder import Builder, Value, bits_of, constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.frame import Frame

FLOAT_PREDICATES = {
    "lt": "olt",
    "eq": "oeq",
    "le": "ole",
    "gt": "ogt",
    "lg": "one",
    "ge": "oge",
    "o": "ord",
    "u": "uno",
    "nge": "ult",
    "nlg": "ueq",
    "ngt": "ule",
    "nle": "ugt",
    "neq": "une",
    "nlt": "uge",
}
INTEGER_PREDICATES = ("lt", "eq", "le", "gt", "ne", "ge")


def integer_predicate(name: str, code: str) -> str:
    """Return LLVM's predicate for an ISA comparison of integers of type `code`."""
    if name in ("eq", "ne"):
        return name
    return ("s" if code[0] == "i" else "u") + name


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two operands of type `code`."""

    predicate: str
    code: str

    def conditions(self, frame: Frame, instruction: Instruction) -> Value:
        """Return the outcome in each lane."""
        left, right = (frame.source(instruction, index, self.code) for index in (1, 2))
        return compare(frame.builder, self.predicate, left, right)


@dataclass(frozen=True, slots=True)
class Classification:
    """`v_cmp_class`: is operand 1 of one of the classes that the bits of operand 2 name?"""

    code: str

    def conditions(self, frame: Frame, instruction: Instruction) -> Value:
        """Return the outcome in each lane."""
        # A test of bits: denormals are denormals in every mode.
        value = frame.unflushed_source(instruction, 1, self.code)
        wanted = frame.source(instruction, 2, "b16" if self.code == "f16" else "b32")
        return classify(frame.builder, value, frame.builder.resize(wanted, 32))


_MANTISSA_BITS = {16: 10, 32: 23, 64: 52}


def classify(b: Builder, value: Value, wanted: Value) -> Value:
    """Test the class mask: sNaN, qNaN, -Inf, -normal, -denormal, -0, +0, +denormal, +normal, +Inf
    (bits 0 to 9)."""
    width = bits_of(value.type)
    mantissa = _MANTISSA_BITS[width]
    bits = b.bitcast(value, f"i{width}")
    magnitude = b.and_(bits, b.const(bits, (1 << (width - 1)) - 1))
    negative = b.compare("slt", bits, b.const(bits, 0))
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    # The class of the magnitude as the bit for +; the sign mirrors it.
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


def _to_register(test: Comparison | Classification) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        frame.write_conditions(instruction.operands[0], test.conditions(frame, instruction))

    return emit


def _to_exec(test: Comparison | Classification) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        bits = frame.builder.mask_bits(test.conditions(frame, instruction))
        active = frame.registers.exec_bits()
        if active != constant("i32", -1):
            bits = frame.builder.and_(bits, active)
        frame.write_half_mask(frame.registers.exec_slot, bits)

    return emit


def _tests() -> dict[str, Comparison | Classification]:
    tests: dict[str, Comparison | Classification] = {}
    for width in (16, 32, 64):
        code = f"f{width}"
        for name, predicate in FLOAT_PREDICATES.items():
            tests[f"{name}_{code}"] = Comparison(predicate, code)
        tests[f"class_{code}"] = Classification(code)
        for code in (f"i{width}", f"u{width}"):
            for name in INTEGER_PREDICATES:
                tests[f"{name}_{code}"] = Comparison(integer_predicate(name, code), code)
    return tests


VECTOR_COMPARE: Mapping[str, Emitter] = {
    **{f"v_cmp_{name}": _to_register(test) for name, test in _tests().items()},
    **{f"v_cmpx_{name}": _to_exec(test) for name, test in _tests().items()},
}
