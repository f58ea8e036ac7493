"""Dot products: V_DOT2, V_DOT4 and V_DOT8."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from amdjit.emulator.host.builder import Builder, Value, constant, vector
from amdjit.emulator.host.function import NativeFunction, i32
from amdjit.emulator.instructions.matrix.dot_factors import Factor, parted
from amdjit.emulator.instructions.matrix.grid_step import GridStep
from amdjit.emulator.instructions.matrix.layouts import is_of_gfx11
from amdjit.emulator.instructions.matrix.quick_steps import QuickFloors
from amdjit.emulator.instructions.operation import Emitter, vector_register
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import V32
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.elements import ELEMENTS, brain_to_single
from amdjit.isa.floats.nans import settled
from amdjit.isa.instruction import InlineConstant, Instruction
from amdjit.late_methods import dataclass


def _parts(b: Builder, whole: Value, bits: int, signed: bool) -> list[Value]:
    return [
        b.resize(b.resize(b.shift("lshr", whole, start), bits), 32, signed)
        for start in range(0, 32, bits)
    ]


def _integer_dot(frame: Frame, instruction: Instruction) -> None:
    """V_DOT4 and V_DOT8 of integers; in the `iu` forms neg_lo says which factors are signed."""
    b = frame.builder
    kind, bits = _element(instruction, 1)[:-1], int(_element(instruction, 1)[-1])
    signed = [kind == "iu" and bool(instruction.modifiers.neg >> number & 1) for number in (0, 1)]
    factors = [
        _parts(b, frame.source(instruction, number + 1), bits, signed[number]) for number in (0, 1)
    ]
    total = constant(V32, 0)
    for left, right in zip(*factors, strict=True):
        total = b.add(total, b.mul(left, right))
    # Read like the packed factors, without modifiers: neg_lo's third bit negates no integer.
    addend = frame.source(instruction, 3, "v2u16")
    if instruction.modifiers.clamp:
        result = b.intrinsic("sadd.sat" if kind == "iu" else "uadd.sat", total, addend)
    else:
        result = b.add(total, addend)
    frame.registers.write_vector(vector_register(instruction, "vdst").index, result, frame.mask())


def _element(instruction: Instruction, index: int) -> str:
    """Return the type of a packed operand's elements: fp8 of v4fp8."""
    return instruction.opcode.operands[index].type[2:]


def dot_factor(frame: Frame, instruction: Instruction, number: int) -> Value:
    """Return dwords of a packed factor, with the halves and signs that the modifiers choose."""
    b = frame.builder
    modifiers = instruction.modifiers
    packed = instruction.opcode.encoding == "VOP3P"
    whole = frame.source(instruction, number + 1)
    is_inline = isinstance(instruction.operands[number + 1], InlineConstant)
    if is_inline and _element(instruction, number + 1) == "bf16":
        # Captured on gfx1201: an inline constant stands in both halves of a bf16 factor, but only
        # in the low half of an f16 one.
        whole = b.or_(b.mask(whole, 16), b.shift("shl", whole, 16))
    halves = []
    for upper in (0, 1):
        selects = modifiers.op_sel_hi if upper else modifiers.op_sel
        place = selects >> number & 1 if packed else upper
        halves.append(b.shift("lshr", whole, 16) if place else b.mask(whole, 16))
    both = b.or_(halves[0], b.shift("shl", halves[1], 16))
    if not packed and modifiers.abs >> number & 1:
        both = b.and_(both, constant(V32, 0x7FFF7FFF))
    negates = modifiers.neg, modifiers.neg_hi if packed else modifiers.neg
    signs = sum(0x8000 << 16 * upper for upper in (0, 1) if negates[upper] >> number & 1)
    return b.xor(both, constant(V32, signs)) if signs else both


def float_dot(frame: Frame, instruction: Instruction, addend: Value) -> Value:
    """Return c + a.lo * b.lo + a.hi * b.hi of an f32 c, rounded as the device rounds."""
    element = _element(instruction, 1)
    factors = [dot_factor(frame, instruction, number) for number in (0, 1)]
    dot = Dot(element, element, "f32", is_of_gfx11(instruction))
    return frame.builder.bitcast(
        frame.native(dot.symbol, V32, [*factors, frame.builder.bitcast(addend, "i32")]), "float"
    )


def _dot2_single(frame: Frame, instruction: Instruction) -> None:
    result = float_dot(frame, instruction, frame.source(instruction, 3))
    frame.write(instruction, 0, result)


def _dot2_accumulated(frame: Frame, instruction: Instruction) -> None:
    frame.write(instruction, 0, float_dot(frame, instruction, frame.source(instruction, 0)))


def _dot2_narrow(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    element = _element(instruction, 1)
    dot = Dot(element, element, element, is_of_gfx11(instruction))
    addend = b.resize(b.bitcast(frame.source(instruction, 3), "i16"), 32)
    factors = [dot_factor(frame, instruction, number) for number in (0, 1)]
    flags = [frame.overflow_flag()] if dot.overflows else []
    bits = frame.native(dot.symbol, V32, [*factors, addend, *flags])
    frame.write(instruction, 0, b.resize(bits, 16))


def _dot4_single(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    dot = Dot(_element(instruction, 1), _element(instruction, 2), "f32")
    factors = [frame.source(instruction, number) for number in (1, 2)]
    addend = b.bitcast(frame.source(instruction, 3), "i32")
    frame.write(
        instruction, 0, b.bitcast(frame.native(dot.symbol, V32, [*factors, addend]), "float")
    )


DOTS: Mapping[str, Emitter] = {
    "v_dot2_f32_f16": _dot2_single,
    "v_dot2_f32_bf16": _dot2_single,
    "v_dot2acc_f32_f16": _dot2_accumulated,
    "v_dot2_f16_f16": _dot2_narrow,
    "v_dot2_bf16_bf16": _dot2_narrow,
    "v_dot4_i32_iu8": _integer_dot,
    "v_dot4_u32_u8": _integer_dot,
    "v_dot8_i32_iu4": _integer_dot,
    "v_dot8_u32_u4": _integer_dot,
    **{f"v_dot4_f32_{a}_{b}": _dot4_single for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
}


# Dot products of gfx9: V_DOT2, V_DOT4 and V_DOT8. Those with a C in their name add to their
# destination.
#
# Integers are signed or not by name; their products and sums have as many bits as they need, and
# `clamp` saturates the sum. Floats are added one product after the other, each sum rounded, in the
# order of the pseudo-code (CDNA 4 ISA, V_DOT2_F32_F16, V_DOT2_F32_BF16); this has not been
# measured.


@dataclass(frozen=True, slots=True)
class IntegerDot:
    """A dot product of elements of some bits and an addend."""

    bits: int
    signed: bool

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        b = frame.builder
        left, right, addend = instruction.opcode.source_places
        factors = [
            self._elements(b, self._factor(frame, instruction, number, place))
            for number, place in enumerate((left, right))
        ]
        # Its own type would take modifiers, which integers do not have.
        total = b.resize(frame.source(instruction, addend, "v2u16"), 64, self.signed)
        for x, y in zip(*factors, strict=True):
            total = b.add(total, b.mul(x, y))
        if instruction.modifiers.clamp:
            total = self._saturated(b, total)
        frame.write(instruction, 0, b.resize(total, 32))

    def _elements(self, b: Builder, whole: Value) -> list[Value]:
        return [
            b.resize(b.resize(b.shift("lshr", whole, start), self.bits), 64, self.signed)
            for start in range(0, 32, self.bits)
        ]

    def _factor(self, frame: Frame, instruction: Instruction, number: int, place: int) -> Value:
        """Return a packed factor, whose halves op_sel and op_sel_hi choose if it has two."""
        whole = frame.source(instruction, place)
        modifiers = instruction.modifiers
        if instruction.opcode.encoding != "VOP3P":
            return whole
        if (modifiers.neg | modifiers.neg_hi) & 7:
            raise Untranslatable(instruction, "no document says what neg does to integers")
        if self.bits != 16:
            return whole
        b = frame.builder
        halves = []
        for selects in (modifiers.op_sel, modifiers.op_sel_hi):
            chosen = b.shift("lshr", whole, 16) if selects >> number & 1 else whole
            halves.append(b.mask(chosen, 16))
        return b.or_(halves[0], b.shift("shl", halves[1], 16))

    def _saturated(self, b: Builder, total: Value) -> Value:
        if not self.signed:
            return b.intrinsic("umin", total, b.const(total, 0xFFFFFFFF))
        low = b.intrinsic("smax", total, b.const(total, -(1 << 31)))
        return b.intrinsic("smin", low, b.const(total, (1 << 31) - 1))


def _float_dot(element: str, addend_first: bool) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        addend = frame.source(instruction, instruction.opcode.source_places[2])
        factors = [_floats(frame, instruction, number, element) for number in (0, 1)]
        (x, y), (z, w) = zip(*factors, strict=True)
        if addend_first:
            total = fx.fma(b, z, w, fx.fma(b, x, y, addend))
        else:
            total = b.binary("fadd", fx.fma(b, z, w, b.binary("fmul", x, y)), addend)
        frame.write(instruction, 0, settled(b, total, [x, y, z, w, addend]))

    return emit


def _floats(frame: Frame, instruction: Instruction, number: int, element: str) -> list[Value]:
    """Return both halves of a factor in single precision."""
    b = frame.builder
    whole = dot_factor(frame, instruction, number)
    if element == "bf16":
        return [brain_to_single(b, half) for half in (whole, b.shift("lshr", whole, 16))]
    halves = (b.resize(b.shift("lshr", whole, start), 16) for start in (0, 16))
    return [
        b.convert("fpext", frame.flushed_source(b.bitcast(half, "half")), "float")
        for half in halves
    ]


GFX9_DOTS: Mapping[str, Emitter] = {
    "v_dot2_i32_i16": IntegerDot(16, True),
    "v_dot2_u32_u16": IntegerDot(16, False),
    "v_dot4_i32_i8": IntegerDot(8, True),
    "v_dot8_i32_i4": IntegerDot(4, True),
    "v_dot2c_i32_i16": IntegerDot(16, True),
    "v_dot4c_i32_i8": IntegerDot(8, True),
    "v_dot8c_i32_i4": IntegerDot(4, True),
    "v_dot2_f32_f16": _float_dot("f16", addend_first=True),
    "v_dot2c_f32_f16": _float_dot("f16", addend_first=True),
    "v_dot2_f32_bf16": _float_dot("bf16", addend_first=False),
    "v_dot2c_f32_bf16": _float_dot("bf16", addend_first=True),
}


# V_DOT2 and V_DOT4 of floats as functions of 32 lanes: one step of a dot product with 2 or 4
# products.


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot product by the types of its factors and of C and D. of_gfx11: with the arithmetic of
    gfx11, otherwise with that of gfx12."""

    a: str
    b: str
    result: str
    of_gfx11: bool = False

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_dot{'11' if self.of_gfx11 else ''}_{self.result}_{self.a}_{self.b}"

    @property
    def overflows(self) -> bool:
        """Whether MODE's FP16_OVFL applies to results that are too large for the format."""
        return self.result == "f16"


def dots() -> Iterator[Dot]:
    """Yield every float dot product that gfx12 or gfx11 has."""
    for kind in ("f16", "bf16"):
        for result in ("f32", kind):
            yield from (Dot(kind, kind, result, of_gfx11) for of_gfx11 in (False, True))
    for a in ("fp8", "bf8"):
        yield from (Dot(a, b, "f32") for b in ("fp8", "bf8"))


def _function(dot: Dot) -> NativeFunction:
    parameters = [(V32, name) for name in ("x", "y", "c")]
    return NativeFunction(
        dot.symbol, V32, [*parameters, ("i32", "clamps")] if dot.overflows else parameters
    )


def _give(f: NativeFunction, dot: Dot, bits: Value) -> None:
    """Return f32 lanes as bits of the result."""
    value = f.bitcast(bits, "float")
    f.give(bits if dot.result == "f32" else ELEMENTS[dot.result].narrow(f, value))


def _addend(f: NativeFunction, dot: Dot) -> Value:
    """Return C as f32."""
    bits = f.parameter("c")
    return f.bitcast(bits, "float") if dot.result == "f32" else ELEMENTS[dot.result].widen(f, bits)


def rounded_dot_text(dot: Dot, attributes: str) -> str:
    """Return the definition: `<32 x i32> (x, y, c)` of packed factors, with the rounding of the
    hardware."""
    f = _function(dot)
    step = GridStep.of(dot.a, dot.b, dot.result)
    left, right = (
        _taken_apart(f, "x", step.factors.left, dot),
        _taken_apart(f, "y", step.factors.right, dot),
    )
    addend = f.bitcast(_addend(f, dot), "i32")
    sums = step.sums(f, left, right)
    quick, wrong = QuickFloors(step).result(f, sums, addend)
    f.branch_if(f.compare("ne", f.mask_bits(wrong), i32(0)), "exactly", "rounded")
    f.label("exactly")
    clamps = f.compare("ne", f.parameter("clamps"), i32(0)) if dot.overflows else constant("i1", 0)
    exact = step.exact(f, left, right=right, addend=addend, clamps=clamps, sums=sums)
    f.branch("rounded")
    f.label("rounded")
    _give(f, dot, f.phi(V32, (quick, "entry"), (exact, "exactly")))
    return f.text(attributes)


def complement_dot_text(dot: Dot, attributes: str) -> str:
    """Return the definition for gfx11."""
    f = _function(dot)
    step = GridStep.of(dot.a, dot.b, dot.result, is_gfx11=True)
    left, right = (
        list(step.pairs(f, which, f.parameter(name))[1]) for which, name in (("a", "x"), ("b", "y"))
    )
    clamps = f.compare("ne", f.parameter("clamps"), i32(0)) if dot.overflows else constant("i1", 0)
    _give(f, dot, step.exact(f, left, right, f.bitcast(_addend(f, dot), "i32"), clamps))
    return f.text(attributes)


def _taken_apart(
    f: NativeFunction, name: str, take_apart: Callable[[NativeFunction, Value], Factor], dot: Dot
) -> list[Factor]:
    packed = f.parameter(name)
    if ELEMENTS[dot.a].bits == 16:
        return list(parted(f, take_apart(f, f.cast("bitcast", packed, vector("i16", 64)))))
    return [take_apart(f, f.mask(f.shift("lshr", packed, start), 8)) for start in range(0, 32, 8)]


def chain_dot_text(dot: Dot, attributes: str) -> str:
    """Return the same function as f32 multiply-adds in the order of the elements."""
    f = _function(dot)
    total = _addend(f, dot)
    bits = ELEMENTS[dot.a].bits
    for start in range(0, 32, bits):
        x = ELEMENTS[dot.a].widen(f, f.shift("lshr", f.parameter("x"), start))
        y = ELEMENTS[dot.b].widen(f, f.shift("lshr", f.parameter("y"), start))
        total = f.intrinsic("fma", x, y, total)
    if dot.overflows:
        total = below_infinity(f, total, f.compare("ne", f.parameter("clamps"), i32(0)))
    _give(f, dot, f.bitcast(total, "i32"))
    return f.text(attributes)


def below_infinity(f: NativeFunction, value: Value, clamps: Value) -> Value:
    """Return f32 lanes; where `clamps` holds, finite ones are limited to f16's largest number."""
    size = f.intrinsic("fabs", value)
    largest = f.intrinsic("copysign", f.const(value, 65504.0), value)
    is_large = f.compare("ogt", size, f.const(value, 65504.0))
    is_finite = f.compare("olt", size, f.const(value, float("inf")))
    clamped = f.select(f.and_(is_large, is_finite), largest, value)
    return f.select(clamps, clamped, value)


def dot_sources(arithmetic: str) -> Mapping[str, Callable[[str], str]]:
    """Return the function that makes each native function's text; those of gfx11 have only the
    rounding of the hardware."""
    text = rounded_dot_text if arithmetic == "silicon" else chain_dot_text
    return {
        dot.symbol: partial(complement_dot_text if dot.of_gfx11 else text, dot) for dot in dots()
    }
