"""SALU instructions that compute a result, and moves between registers at numbers relative to
M0."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.instructions.operation import Emitter, scalar_ops
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.isa import integer_expressions as ix
from amdjit.isa.analysis.mode import IEEE
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.conversions import CONVERSIONS
from amdjit.isa.floats.extremes import EXTREMES, older
from amdjit.isa.floats.nans import converted_nan, settled
from amdjit.isa.floats.rows import FLOATS
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.integer_rows import SCALAR_PAIR_ROWS, SCALAR_ROWS, TESTED_SCALAR_ROWS, Pair, Row
from amdjit.isa.register_numbers import M0, scalar_slot


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


# Moves between scalar registers at numbers relative to M0 (S_MOVREL*).


# The registers that a relative move can reach: s0 to s105 (RDNA 4 ISA, 3.4). Past them, the move
# does nothing here.
_GENERAL = 106


def _first(instruction: Instruction, index: int) -> int:
    register = instruction.operands[index]
    slot = scalar_slot(register) if isinstance(register, Register) else None
    if slot is None or slot >= _GENERAL:
        raise Untranslatable(instruction, "relative moves are only emulated for s0 to s105")
    return slot


def _read(frame: Frame, first: int, distance: Value, dwords: int) -> list[Value]:
    b = frame.builder
    result = [frame.registers.scalar(first + part) for part in range(dwords)]
    for number in range(first + dwords, _GENERAL - dwords + 1, dwords):
        here = b.compare("eq", distance, constant("i32", number - first))
        result = [
            b.select(here, frame.registers.scalar(number + part), old)
            for part, old in enumerate(result)
        ]
    return result


def _write(frame: Frame, first: int, distance: Value, values: list[Value]) -> None:
    b = frame.builder
    for number in range(first, _GENERAL - len(values) + 1, len(values)):
        here = b.compare("eq", distance, constant("i32", number - first))
        for part, value in enumerate(values):
            kept = frame.registers.scalar(number + part)
            frame.registers.write_scalar(number + part, b.select(here, value, kept))


def _plain(frame: Frame, instruction: Instruction, dwords: int) -> list[Value]:
    value = frame.scalar_source(instruction, 1)
    return [value] if dwords == 1 else list(frame.builder.split_bits(value))


def _move(source: bool, target: bool, dwords: int, split: bool = False) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        m0 = frame.registers.scalar(M0)
        offsets = (b.mask(m0, 10), b.mask(b.shift("lshr", m0, 16), 10)) if split else (m0, m0)
        if source:
            values = _read(frame, _first(instruction, 1), offsets[0], dwords)
        else:
            values = _plain(frame, instruction, dwords)
        if target:
            _write(frame, _first(instruction, 0), offsets[1], values)
            return
        whole = values[0] if dwords == 1 else b.concat_bits(values[0], values[1])
        frame.write_scalar(instruction.operands[0], whole)

    return emit


SCALAR_RELATIVE: Mapping[str, Emitter] = {
    "s_movrels_b32": _move(source=True, target=False, dwords=1),
    "s_movrels_b64": _move(source=True, target=False, dwords=2),
    "s_movreld_b32": _move(source=False, target=True, dwords=1),
    "s_movreld_b64": _move(source=False, target=True, dwords=2),
    "s_movrelsd_2_b32": _move(source=True, target=True, dwords=1, split=True),
}
