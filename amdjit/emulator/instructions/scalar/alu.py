"""SALU instructions that compute a result."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value
from amdjit.emulator.instructions.operation import Emitter, scalar_ops
from amdjit.emulator.wave.frame import Frame
from amdjit.isa import integer_expressions as ix
from amdjit.isa.analysis.mode import IEEE
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.conversions import CONVERSIONS
from amdjit.isa.floats.extremes import EXTREMES, older
from amdjit.isa.floats.nans import converted_nan, settled
from amdjit.isa.floats.rows import FLOATS
from amdjit.isa.instruction import Instruction
from amdjit.isa.integer_rows import SCALAR_PAIR_ROWS, SCALAR_ROWS, TESTED_SCALAR_ROWS, Pair, Row


def _high_half(b: Builder, x: Value) -> Value:
    high = b.bitcast(b.resize(b.shift("lshr", x, 16), 16), "half")
    return settled(b, b.convert("fpext", high, "float"), [high], converted_nan("float"))


_SHARED = ("add", "sub", "mul", "fmac", *EXTREMES, *fx.TO_WHOLE)
_CONVERTED = ("f32_i32", "f32_u32", "i32_f32", "u32_f32", "f32_f16", "f16_f32")
_FLOATS: Mapping[str, ix.Expression | Row] = {
    **{
        f"s_{name}_{code}": FLOATS[f"v_{name}_{code}"]
        for name in _SHARED
        for code in ("f16", "f32")
    },
    **{f"s_{name}_f32": FLOATS[f"v_{name}_f32"] for name in ("fmaak", "fmamk")},
    **{f"s_cvt_{name}": CONVERSIONS[f"v_cvt_{name}"] for name in _CONVERTED},
    "s_cvt_hi_f32_f16": _high_half,
}


def _by_mode(greater: bool) -> Emitter:
    """The minimum or maximum of gfx11.5, by MODE's IEEE bit (RDNA 3.5 ISA, S_MIN_F32)."""
    quieting, other = (older(greater, ieee) for ieee in (True, False))

    def emit(frame: Frame, instruction: Instruction) -> None:
        operands = [frame.scalar_source(instruction, place) for place in (1, 2)]
        result = frame.by_bit(IEEE, quieting, other, operands)
        frame.write_scalar(instruction.operands[0], frame.flushed_result(result, instruction))

    return emit


def _towards_zero(frame: Frame, instruction: Instruction) -> None:
    """S_CVT_PK_RTZ_F16_F32."""
    operands = [frame.scalar_source(instruction, place) for place in (1, 2)]
    packed = fx.pack_towards_zero(frame.builder, *operands)
    frame.write_scalar(instruction.operands[0], frame.flushed_halves(packed))


def _with_condition(expression: Pair) -> Emitter:
    """Return the emitter of an instruction with SCC as second result."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        operands = [frame.scalar_source(instruction, index) for index in (1, 2)]
        if instruction.traits.reads_scc:
            operands.append(frame.registers.condition_code)
        result, condition = expression(frame.builder, *operands)
        frame.write_scalar(instruction.operands[0], result)
        frame.registers.write_condition_code(condition)

    return emit


SCALAR_ALU: Mapping[str, Emitter] = {
    **{
        f"s_{name}_{code}": _by_mode(greater)
        for name, greater in (("min", False), ("max", True))
        for code in ("f16", "f32")
    },
    **scalar_ops(TESTED_SCALAR_ROWS, tests_result=True),
    **scalar_ops(SCALAR_ROWS),
    **{name: _with_condition(pair) for name, pair in SCALAR_PAIR_ROWS.items()},
    "s_cvt_pk_rtz_f16_f32": _towards_zero,
    **scalar_ops(_FLOATS),
}
