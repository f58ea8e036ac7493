"""V_CVT_SCALEF32_*: conversions of one or two numbers, and of 32, with a scale.

Sources: CDNA 4 ISA, 7.3 and the pseudocode of each instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import V32, NativeFunction, i32
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.floats.elements import bf8_to_single
from amdjit.isa.floats.scaled import (
    MANTISSAS,
    SMALL_FLOATS,
    narrow,
    scale_of,
    to_single,
    widen,
)
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_expressions import next_random
from amdjit.isa.register_numbers import vector_number
from amdjit.late_methods import dataclass

# Conversions with a scale as functions of 32 lanes: instructions call them for each number.


_EIGHT_BITS = ("fp8", "bf8")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A conversion to few bits: of which wide format, to which small one, and whether random bits
    round it."""

    of: str
    to: str
    is_random: bool

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_narrow_{self.to}_{self.of}{'_sr' if self.is_random else ''}"

    @property
    def overflows(self) -> bool:
        """Whether MODE's FP16_OVFL applies (CDNA 4 ISA, 7.3: to 8 bits only)."""
        return self.to in _EIGHT_BITS


@dataclass(frozen=True, slots=True)
class Widening:
    """A conversion from few bits."""

    of: str
    to: str

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_widen_{self.to}_{self.of}"


def narrowings() -> Iterator[Narrowing]:
    """Yield every conversion to few bits."""
    for to in SMALL_FLOATS:
        for of in MANTISSAS:
            yield from (Narrowing(of, to, is_random) for is_random in (False, True))


def widenings() -> Iterator[Widening]:
    """Yield every conversion from few bits."""
    for of in SMALL_FLOATS:
        yield from (Widening(of, to) for to in MANTISSAS)


def narrow_text(conversion: Narrowing, attributes: str) -> str:
    """Return `(bits, scale[, random][, clamps])`: the code of numbers given by their bits."""
    parameters = [(V32, "bits"), (V32, "scale")]
    parameters += [(V32, "random")] * conversion.is_random
    parameters += [("i32", "clamps")] * conversion.overflows
    f = NativeFunction(conversion.symbol, V32, parameters)
    clamps = f.compare("ne", f.parameter("clamps"), i32(0)) if conversion.overflows else False
    code = narrow(
        f,
        to_single(f, f.parameter("bits"), conversion.of),
        SMALL_FLOATS[conversion.to],
        scale=f.parameter("scale"),
        random=f.parameter("random") if conversion.is_random else None,
        mantissa=MANTISSAS[conversion.of],
        clamps=clamps,
    )
    f.give(code)
    return f.text(attributes)


def widen_text(conversion: Widening, attributes: str) -> str:
    """Return `(code, scale)`: the bits of the wide number."""
    f = NativeFunction(conversion.symbol, V32, [(V32, "code"), (V32, "scale")])
    form = SMALL_FLOATS[conversion.of]
    f.give(widen(f, f.parameter("code"), form, f.parameter("scale"), conversion.to))
    return f.text(attributes)


def scaled_sources() -> Mapping[str, Callable[[str], str]]:
    """Return the function that makes each native function's text."""
    return {
        **{each.symbol: partial(narrow_text, each) for each in narrowings()},
        **{each.symbol: partial(widen_text, each) for each in widenings()},
    }


# The bits of op_sel that choose a half or a byte of the destination, and of the source.
_TARGET_HALF, _TARGET_BYTE, _SOURCE_HALF, _SOURCE_BYTE = 8, 12, 1, 3


def _narrow_one(conversion: Narrowing) -> Emitter:
    """Write one byte; op_sel[3:2] says which."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        select = allow_selects(instruction, _TARGET_BYTE)
        b = frame.builder
        if conversion.of == "f32":
            number = b.bitcast(frame.source(instruction, 1), "i32")
        else:
            narrow = frame.unflushed_source(instruction, 1)
            number = b.resize(b.bitcast(narrow, "i16"), 32)
        (code,) = Narrower(conversion, frame, instruction).codes([number])
        insert_bits(frame, instruction, code, 8 * (select >> 2), 8)

    return emit


def _narrow_pair(conversion: Narrowing) -> Emitter:
    """Write two codes, the first one low: half a register, or a byte of it."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        narrower = Narrower(conversion, frame, instruction)
        is_word = narrower.bits == 8
        select = allow_selects(instruction, _TARGET_HALF if is_word else _TARGET_BYTE)
        first, second = narrower.codes(_pair(frame, instruction, conversion))
        both = frame.builder.or_(first, frame.builder.shift("shl", second, narrower.bits))
        width = 2 * narrower.bits
        insert_bits(frame, instruction, both, width * (select >> (3 if is_word else 2)), width)

    return emit


def _pair(frame: Frame, instruction: Instruction, conversion: Narrowing) -> list[Value]:
    """Return two numbers by their bits: two operands of f32, a pair of registers if random bits
    stand between it and the scale, or the halves of one operand."""
    if conversion.of == "f32" and not conversion.is_random:
        return [frame.builder.bitcast(frame.source(instruction, place), "i32") for place in (1, 2)]
    refuse_signs(instruction)
    if conversion.of == "f32":
        return single_bits(frame, registers(frame, instruction, "src0"))
    return halves(frame, frame.source(instruction, 1))


def _widen_one(conversion: Widening) -> Emitter:
    """Read one byte; half precision fills one half of the result's register."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        allowed = _SOURCE_BYTE if conversion.to == "f32" else _SOURCE_BYTE | _TARGET_HALF
        select = allow_selects(instruction, allowed)
        code = b.shift("lshr", frame.source(instruction, 1), 8 * (select & _SOURCE_BYTE))
        (number,) = widened(frame, instruction, conversion, [code])
        if conversion.to == "f32":
            write_dwords(frame, instruction, [number])
        else:
            insert_bits(frame, instruction, number, 16 * (select >> 3), 16)

    return emit


def _widen_pair(conversion: Widening) -> Emitter:
    """Read two codes: half a register, or a byte of it."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        bits = SMALL_FLOATS[conversion.of].bits
        select = allow_selects(instruction, _SOURCE_HALF if bits == 8 else _SOURCE_BYTE)
        first = b.shift("lshr", frame.source(instruction, 1), 2 * bits * select)
        numbers = widened(frame, instruction, conversion, [first, b.shift("lshr", first, bits)])
        write_dwords(
            frame, instruction, numbers if conversion.to == "f32" else joined(frame, numbers)
        )

    return emit


def _narrow_block(conversion: Narrowing) -> Emitter:
    """Convert 32 numbers to 6 registers of 6-bit codes. Without random bits, those of f32 stand in
    two operands that take turns."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        numbers = registers(frame, instruction, "src0")
        if conversion.of != "f32":
            numbers = [part for whole in numbers for part in halves(frame, whole)]
        elif not conversion.is_random:
            others = registers(frame, instruction, "src1")
            numbers = [number for pair in zip(numbers, others, strict=True) for number in pair]
        if conversion.of == "f32":
            numbers = single_bits(frame, numbers)
        codes = Narrower(conversion, frame, instruction).codes(numbers)
        write_dwords(frame, instruction, _packed(frame, codes, 6))

    return emit


def _packed(frame: Frame, codes: list[Value], bits: int) -> list[Value]:
    """Return codes one after the other in dwords; one may begin in a dword and end in the next."""
    b = frame.builder
    dwords = [constant(V32, 0)] * (len(codes) * bits // 32)
    for index, code in enumerate(codes):
        number, start = divmod(index * bits, 32)
        dwords[number] = b.or_(dwords[number], b.shift("shl", code, start))
        if start + bits > 32:
            dwords[number + 1] = b.shift("lshr", code, 32 - start)
    return dwords


def _widen_block(conversion: Widening) -> Emitter:
    """Convert 6 registers of 32 codes."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        codes = _unpacked(frame, registers(frame, instruction, "src0"), 6)
        numbers = widened(frame, instruction, conversion, codes)
        write_dwords(
            frame, instruction, numbers if conversion.to == "f32" else joined(frame, numbers)
        )

    return emit


def _unpacked(frame: Frame, dwords: list[Value], bits: int) -> list[Value]:
    """Return codes as low bits of dwords, whose other bits may be anything."""
    b = frame.builder
    codes = []
    for place in range(0, 32 * len(dwords), bits):
        number, start = divmod(place, 32)
        code = b.shift("lshr", dwords[number], start)
        if start + bits > 32:
            code = b.or_(code, b.shift("shl", dwords[number + 1], 32 - start))
        codes.append(code)
    return codes


_EIGHT, _SIX, _FOUR = ("fp8", "bf8"), ("fp6", "bf6"), ("fp4",)


def _named(count: str, to: str, of: str) -> str:
    return f"v_cvt_scalef32_{count}{to}_{of}"


def _narrowings() -> dict[str, Emitter]:
    rows: dict[str, Emitter] = {}
    for of in MANTISSAS:
        for to in _EIGHT:
            rows[_named("pk_", to, of)] = _narrow_pair(Narrowing(of, to, False))
            rows[_named("sr_", to, of)] = _narrow_one(Narrowing(of, to, True))
        for to in _FOUR:
            rows[_named("pk_", to, of)] = _narrow_pair(Narrowing(of, to, False))
            rows[_named("sr_pk_", to, of)] = _narrow_pair(Narrowing(of, to, True))
        for to in _SIX:
            count = "2xpk16_" if of == "f32" else "pk32_"
            rows[_named(count, to, of)] = _narrow_block(Narrowing(of, to, False))
            rows[_named("sr_pk32_", to, of)] = _narrow_block(Narrowing(of, to, True))
    return rows


def _widenings() -> dict[str, Emitter]:
    rows: dict[str, Emitter] = {}
    for to in MANTISSAS:
        for of in (*_EIGHT, *_FOUR):
            rows[_named("pk_", to, of)] = _widen_pair(Widening(of, to))
        for of in _SIX:
            rows[_named("pk32_", to, of)] = _widen_block(Widening(of, to))
    for to in ("f32", "f16"):
        for of in _EIGHT:
            rows[_named("", to, of)] = _widen_one(Widening(of, to))
    return rows


SCALED: Mapping[str, Emitter] = {**_narrowings(), **_widenings()}


# What the conversions with a scale read and write: numbers, the scale, random bits, parts of
# registers.


def allow_selects(instruction: Instruction, bits: int) -> int:
    """Return op_sel; Untranslatable if a bit is set that the ISA document gives no meaning."""
    select = instruction.modifiers.op_sel
    if select & ~bits:
        raise Untranslatable(instruction, "no document says what this op_sel does")
    return select


def refuse_signs(instruction: Instruction) -> None:
    """Refuse abs and neg of an operand with several numbers; those of the scale change nothing."""
    modifiers = instruction.modifiers
    if (modifiers.abs | modifiers.neg) & 1:
        raise Untranslatable(
            instruction, "no document says which numbers of an operand abs and neg change"
        )


def scale(frame: Frame, instruction: Instruction) -> Value:
    """Return the scale's exponent, in the last operand."""
    place = len(instruction.operands) - 1
    return scale_of(frame.builder, frame.unflushed_source(instruction, place, "f32"))


def halves(frame: Frame, whole: Value) -> list[Value]:
    """Return both halves of dwords as low bits."""
    b = frame.builder
    return [b.mask(whole, 16), b.shift("lshr", whole, 16)]


def registers(frame: Frame, instruction: Instruction, role: str) -> list[Value]:
    """Return the dwords of an operand of several vector registers."""
    register = vector_register(instruction, role)
    first = vector_number(register)
    return [frame.registers.vector(first + index) for index in range(register.dwords)]


def single_bits(frame: Frame, values: list[Value]) -> list[Value]:
    """Return dwords of f32 as the instruction sees them in the denormal mode."""
    b = frame.builder
    return [b.bitcast(frame.flushed_source(b.bitcast(value, "float")), "i32") for value in values]


def write_dwords(frame: Frame, instruction: Instruction, values: list[Value]) -> None:
    """Write consecutive vector registers."""
    first = vector_number(vector_register(instruction, "vdst"))
    for index, value in enumerate(values):
        frame.registers.write_vector(first + index, value, frame.mask())


def insert_bits(
    frame: Frame, instruction: Instruction, value: Value, start: int, count: int
) -> None:
    """Write some bits of the result's register and keep the others."""
    b = frame.builder
    number = vector_number(vector_register(instruction, "vdst"))
    others = constant(V32, ~(((1 << count) - 1) << start))
    kept = b.and_(frame.registers.vector(number), others)
    result = b.or_(kept, b.shift("shl", value, start))
    frame.registers.write_vector(number, result, frame.mask())


@dataclass(frozen=True, slots=True)
class Narrower:
    """Converts numbers of one instruction to few bits, one after the other: each has its own random
    bits (CDNA 4 ISA, 7.3)."""

    conversion: Narrowing
    frame: Frame
    instruction: Instruction

    @property
    def bits(self) -> int:
        """The bits of a result."""
        return SMALL_FLOATS[self.conversion.to].bits

    def codes(self, numbers: list[Value]) -> list[Value]:
        """Return the codes of numbers, which are given by their bits."""
        frame, conversion = self.frame, self.conversion
        fixed = scale(frame, self.instruction)
        random = frame.source(self.instruction, 2, "b32") if conversion.is_random else None
        flags = [frame.overflow_flag()] if conversion.overflows else []
        codes = []
        for number in numbers:
            drawn = [] if random is None else [random]
            codes.append(frame.native(conversion.symbol, V32, [number, fixed, *drawn, *flags]))
            random = None if random is None else next_random(frame.builder, random)
        return codes


def widened(
    frame: Frame, instruction: Instruction, conversion: Widening, codes: list[Value]
) -> list[Value]:
    """Return the bits of the wide numbers of codes."""
    b, fixed = frame.builder, scale(frame, instruction)
    results = []
    for code in codes:
        value = frame.native(conversion.symbol, V32, [code, fixed])
        # Of the formats, only bf8 has infinities.
        sources = [bf8_to_single(b, code)] if conversion.of == "bf8" else []
        results.append(_in_mode(frame, instruction, value, conversion.to, sources))
    return results


def _in_mode(
    frame: Frame, instruction: Instruction, bits: Value, kind: str, sources: list[Value]
) -> Value:
    """Return the bits of a float as MODE's overflow and denormal modes make them."""
    if kind == "bf16" or (frame.keeps_denormals and frame.clamps_overflow is False):
        return bits
    b = frame.builder
    number = b.bitcast(bits, "float") if kind == "f32" else b.bitcast(b.resize(bits, 16), "half")
    number = frame.without_overflow(number, sources, instruction)
    flushed = frame.flushed_result(number, instruction)
    return b.resize(b.bitcast(flushed, "i32" if kind == "f32" else "i16"), 32)


def joined(frame: Frame, numbers: list[Value]) -> list[Value]:
    """Return dwords of two 16-bit numbers each."""
    b = frame.builder
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [b.or_(low, b.shift("shl", high, 16)) for low, high in pairs]
