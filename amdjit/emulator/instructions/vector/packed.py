"""Packed 16-bit arithmetic: V_PK_*."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.long_expressions import call_long
from amdjit.emulator.instructions.operation import (
    Emitter,
    vector_register,
)
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa import integer_expressions as ix
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.elements import single_to_brain
from amdjit.isa.floats.extremes import EXTREMES, older
from amdjit.isa.floats.modes import modify_input
from amdjit.isa.floats.nans import converted_nan, with_nans
from amdjit.isa.floats.rows import FLOATS
from amdjit.isa.floats.scaled import BRAIN, HALF, narrow
from amdjit.isa.instruction import InlineConstant, Instruction, Operand, Register
from amdjit.isa.integer_rows import Row
from amdjit.isa.register_numbers import is_vector, scalar_slot, vector_number
from amdjit.late_methods import dataclass


def half_of(b: Builder, whole: Value, upper: int) -> Value:
    """Return the lower or the upper 16 bits of dwords."""
    return b.resize(b.shift("lshr", whole, 16) if upper else whole, 16)


@dataclass(frozen=True, slots=True)
class PackedOp(Row):
    """The same 16-bit row on both halves of registers; op_sel and op_sel_hi select the half of each
    operand. single: the instruction that does the same with one half, if its expression is long."""

    single: str = ""

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        if self.single and _is_plain(frame, instruction):
            sources = [
                frame.source(instruction, place) for place in instruction.opcode.source_places
            ]
            result = call_long(frame, instruction.traits.operation, sources)
            if result is not None:
                frame.write(instruction, 0, result)
                return
        halves = [self._compute(frame, instruction, upper) for upper in (0, 1)]
        frame.write(instruction, 0, pack_halves(frame.builder, *halves))

    def both_halves(self, b: Builder, element: str, *sources: Value) -> Value:
        """Return the dwords of the result if each half is computed from the same halves of the
        sources, unmodified."""
        halves = [
            [b.bitcast(half_of(b, whole, upper), element) for whole in sources] for upper in (0, 1)
        ]
        return pack_halves(b, *(self.expression(b, *operands) for operands in halves))

    def _compute(self, frame: Frame, instruction: Instruction, upper: int) -> Value:
        b = frame.builder
        modifiers = instruction.modifiers
        selects = modifiers.op_sel_hi if upper else modifiers.op_sel
        negates = modifiers.neg_hi if upper else modifiers.neg
        if instruction.opcode.encoding == "VOP2":
            selects = 7 if upper else 0
        element = _element(instruction)
        operands = []
        for number, place in enumerate(instruction.opcode.source_places):
            whole = frame.source(instruction, place)
            half = b.bitcast(half_of(b, whole, selects >> number & 1), element)
            operands.append(
                frame.flushed_source(modify_input(b, half, bool(negates >> number & 1), False))
            )

        def evaluate(expression: ix.Expression, values: list[Value]) -> Value:
            is_shared = expression is self.expression
            shared = call_long(frame, self.single, values) if is_shared else None
            return shared or expression(b, *values)

        return frame.finished(frame.computed(self, operands, instruction, evaluate), instruction)


def _element(instruction: Instruction) -> str:
    return "half" if instruction.opcode.operands[0].type == "v2f16" else "i16"


def _is_plain(frame: Frame, instruction: Instruction) -> bool:
    """Whether each half of the result is computed from the same halves of the operands, and neither
    modifiers nor the mode change anything."""
    modifiers = instruction.modifiers
    every = (1 << len(instruction.opcode.operands) - 1) - 1
    own = instruction.opcode.encoding == "VOP2" or (
        modifiers.op_sel,
        modifiers.op_sel_hi & every,
    ) == (0, every)
    changed = modifiers.neg or modifiers.neg_hi or modifiers.clamp
    return own and not changed and frame.keeps_denormals and frame.clamps_overflow is False


def pack_halves(b: Builder, low: Value, high: Value) -> Value:
    """Join two vectors of 16-bit elements into dwords."""
    wide = [b.resize(b.bitcast(value, "i16"), 32) for value in (low, high)]
    return b.or_(wide[0], b.shift("shl", wide[1], 16))


def _integers(code: str, sign: str) -> dict[str, Emitter]:
    return {
        f"v_pk_mad_{code}": PackedOp(ix.mad, ix.saturating_mad(sign == "s")),
        f"v_pk_add_{code}": PackedOp(ix.binary("add"), ix.saturating(f"{sign}add")),
        f"v_pk_sub_{code}": PackedOp(ix.binary("sub"), ix.saturating(f"{sign}sub")),
        f"v_pk_max_{code}": PackedOp(ix.intrinsic(f"{sign}max")),
        f"v_pk_min_{code}": PackedOp(ix.intrinsic(f"{sign}min")),
    }


def _three(name: str) -> PackedOp:
    """Return an extreme of three halves, on both halves of dwords."""
    return PackedOp(ix.chain(EXTREMES[name], EXTREMES[name]), single=f"v_{name}3_f16")


_FUSED = PackedOp(FLOATS["v_fma_f16"].expression, tiny=FLOATS["v_fma_f16"].tiny, single="v_fma_f16")
VECTOR_PACKED: Mapping[str, Emitter] = {
    "v_pk_mul_lo_u16": PackedOp(ix.binary("mul")),
    "v_pk_lshlrev_b16": PackedOp(ix.reverse(ix.shift("shl"))),
    "v_pk_lshrrev_b16": PackedOp(ix.reverse(ix.shift("lshr"))),
    "v_pk_ashrrev_i16": PackedOp(ix.reverse(ix.shift("ashr"))),
    **_integers("i16", "s"),
    **_integers("u16", "u"),
    "v_pk_fma_f16": _FUSED,
    "v_pk_fmac_f16": _FUSED,
    "v_pk_add_f16": PackedOp(with_nans(fx.through_float(ix.binary("fadd")))),
    "v_pk_mul_f16": PackedOp(with_nans(fx.through_float(ix.binary("fmul")))),
    **{
        f"v_pk_{name}_f16": PackedOp(expression, single=f"v_{name}_f16")
        for name, expression in EXTREMES.items()
    },
    "v_pk_minimum3_f16": _three("minimum"),
    "v_pk_maximum3_f16": _three("maximum"),
    **{
        f"v_pk_{name}_f16": PackedOp(older(greater, True), unquieted=older(greater, False))
        for name, greater in (("min", False), ("max", True))
    },
}


# V_CVT_PK and V_CVT_SR of single precision to half precision and bfloat16.
#
# The CDNA 4 ISA document does not say how V_CVT_SR_F16_F32 and V_CVT_SR_BF16_F32 align random bits
# and what they make of a NaN: the bits are taken as those of conversions with a scale are
# (`isa/floats/scaled.py`), and a NaN is quiet, with the leading bits of its mantissa, as where such
# conversions round to the nearest.

_TO_HALF = with_nans(fx.cast("fptrunc", "half"), converted_nan("half"))


def _half_pair(frame: Frame, instruction: Instruction) -> None:
    parts = []
    for place in (1, 2):
        source = frame.source(instruction, place)
        value = frame.without_overflow(_TO_HALF(frame.builder, source), [source], instruction)
        value = frame.modified_result(value, instruction)
        parts.append(frame.flushed_result(value, instruction))
    frame.write(instruction, 0, pack_halves(frame.builder, *parts))


def _brain_pair(frame: Frame, instruction: Instruction) -> None:
    _refuse_result_modifiers(instruction)
    b = frame.builder
    low, high = (single_to_brain(b, frame.source(instruction, place)) for place in (1, 2))
    frame.write(instruction, 0, b.or_(low, b.shift("shl", high, 16)))


def _refuse_result_modifiers(instruction: Instruction) -> None:
    if instruction.modifiers.clamp or instruction.modifiers.omod:
        raise Untranslatable(instruction, "no document says what clamp and omod make of bfloat16")


def _random_half(frame: Frame, instruction: Instruction) -> None:
    _refuse_source_halves(instruction)
    b = frame.builder
    source, random = frame.source(instruction, 1), frame.source(instruction, 2, "b32")
    bits = b.resize(narrow(b, source, HALF, random=random), 16)
    nan = converted_nan("half")(b, [source])
    value = b.select(b.compare("uno", source, source), nan, bits)
    result = frame.without_overflow(b.bitcast(value, "half"), [source], instruction)
    frame.write(instruction, 0, result)


def _random_brain(frame: Frame, instruction: Instruction) -> None:
    _refuse_source_halves(instruction)
    b = frame.builder
    source, random = frame.source(instruction, 1), frame.source(instruction, 2, "b32")
    bits = narrow(b, source, BRAIN, random=random)
    nan = single_to_brain(b, source)
    value = b.select(b.compare("uno", source, source), nan, bits)
    frame.write(instruction, 0, b.resize(value, 16))


def _refuse_source_halves(instruction: Instruction) -> None:
    if instruction.modifiers.op_sel & 7:
        raise Untranslatable(instruction, "no document says what this op_sel does")


VECTOR_NARROW_PAIRS: Mapping[str, Emitter] = {
    "v_cvt_pk_f16_f32": _half_pair,
    "v_cvt_pk_bf16_f32": _brain_pair,
    "v_cvt_sr_f16_f32": _random_half,
    "v_cvt_sr_bf16_f32": _random_brain,
}


# Instructions of gfx9 on pairs of dwords: V_PK_*_F32, V_PK_MOV_B32, and moves and sums of 64
# bits.


def _is_zero(operand: Operand | None) -> bool:
    """Return whether both dwords of a constant are 0, whatever fills the upper one."""
    return isinstance(operand, InlineConstant) and operand.value == 0


def _dword(frame: Frame, instruction: Instruction, place: int, upper: int) -> Value:
    """Return one dword of a pair, which op_sel or op_sel_hi has chosen."""
    operand = instruction.operands[place]
    if is_vector(operand):
        return frame.registers.vector(vector_number(operand) + upper)
    slot = scalar_slot(operand) if isinstance(operand, Register) and operand.dwords == 2 else None
    if slot is not None:
        return frame.registers.scalar_splat(slot + upper)
    if upper and not _is_zero(operand):
        # Compilers choose the lower dword of others (LLVM: packed-fp32.ll, "1.0 op_sel_hi:[1,0]").
        raise Untranslatable(instruction, "no document has the upper dword of a constant")
    return frame.source(instruction, place, "v2f32")


@dataclass(frozen=True, slots=True)
class PairOp:
    """The same single-precision row on both dwords of register pairs."""

    row: Row

    def __call__(self, frame: Frame, instruction: Instruction) -> None:
        """Emit the instruction."""
        # Read everything first: the result may overlap the operands.
        results = [self._compute(frame, instruction, upper) for upper in (0, 1)]
        number = vector_number(vector_register(instruction, "vdst"))
        for upper, result in enumerate(results):
            frame.registers.write_vector(number + upper, result, frame.mask())

    def _compute(self, frame: Frame, instruction: Instruction, upper: int) -> Value:
        b, modifiers = frame.builder, instruction.modifiers
        selects = modifiers.op_sel_hi if upper else modifiers.op_sel
        negates = modifiers.neg_hi if upper else modifiers.neg
        operands = []
        for number, place in enumerate(instruction.opcode.source_places):
            dword = _dword(frame, instruction, place, selects >> number & 1)
            single = modify_input(b, b.bitcast(dword, "float"), bool(negates >> number & 1), False)
            operands.append(frame.flushed_source(single))
        return frame.finished(frame.computed(self.row, operands, instruction), instruction)


def _move_pair(frame: Frame, instruction: Instruction) -> None:
    """V_PK_MOV_B32: op_sel chooses the dword of each operand."""
    chosen = [
        _dword(frame, instruction, place, instruction.modifiers.op_sel >> number & 1)
        for number, place in enumerate((1, 2))
    ]
    number = vector_number(vector_register(instruction, "vdst"))
    for part, value in enumerate(chosen):
        frame.registers.write_vector(number + part, value, frame.mask())


VECTOR_PAIRS: Mapping[str, Emitter] = {
    **{f"v_pk_{name}_f32": PairOp(FLOATS[f"v_{name}_f32"]) for name in ("fma", "mul", "add")},
    "v_pk_mov_b32": _move_pair,
}
