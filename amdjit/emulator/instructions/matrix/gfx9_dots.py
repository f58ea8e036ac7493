"""Dot products of gfx9: V_DOT2, V_DOT4 and V_DOT8. Those with a C in their name add to their
destination.

Integers are signed or not by name; their products and sums have as many bits as they need, and
`clamp` saturates the sum. Floats are added one product after the other, each sum rounded, in the
order of the pseudo-code (CDNA 4 ISA, V_DOT2_F32_F16, V_DOT2_F32_BF16); this has not been measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.matrix.dots import dot_factor
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.elements import brain_to_single
from amdjit.isa.floats.nans import settled
from amdjit.isa.instruction import Instruction


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
