"""SALU instructions that read or write SCC and EXEC, and those with an immediate."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.analysis.errors import Untranslatable
from amdjit.emulator.decoder.instruction import Instruction, Register, RegisterFile
from amdjit.emulator.expressions.float_extremes import compare
from amdjit.emulator.host.builder import constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.scalar.alu import LOGIC
from amdjit.emulator.instructions.vector.compare import FLOAT_PREDICATES, integer_predicate
from amdjit.emulator.layout import Context
from amdjit.emulator.wave.frame import Frame


def _compare(predicate: str, code: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        x, y = (frame.scalar_source(instruction, index, code) for index in (0, 1))
        frame.registers.write_condition_code(compare(frame.builder, predicate, x, y))

    return emit


def _test_bit(value: int, code: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        x = frame.scalar_source(instruction, 0, code)
        position = b.resize(frame.scalar_source(instruction, 1, "b32"), int(code[1:]))
        bit = b.resize(b.shift("lshr", x, position), 1)
        frame.registers.write_condition_code(bit if value else b.not_(bit))

    return emit


def _comparisons() -> dict[str, Emitter]:
    table: dict[str, Emitter] = {}
    for code in ("i32", "u32"):
        for name, predicate in (
            ("eq", "eq"),
            ("lg", "ne"),
            ("gt", "gt"),
            ("ge", "ge"),
            ("lt", "lt"),
            ("le", "le"),
        ):
            table[f"s_cmp_{name}_{code}"] = _compare(integer_predicate(predicate, code), code)
    table["s_cmp_eq_u64"] = _compare("eq", "u64")
    table["s_cmp_lg_u64"] = _compare("ne", "u64")
    for code in ("f16", "f32"):
        for name, predicate in FLOAT_PREDICATES.items():
            table[f"s_cmp_{name}_{code}"] = _compare(predicate, code)
    for value in (0, 1):
        for code in ("b32", "b64"):
            table[f"s_bitcmp{value}_{code}"] = _test_bit(value, code)
    return table


def _select(code: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        x, y = (frame.scalar_source(instruction, index, code) for index in (1, 2))
        chosen = frame.builder.select(frame.registers.condition_code, x, y)
        frame.write_scalar(instruction.operands[0], chosen)

    return emit


def _conditional_move(code: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        new = frame.scalar_source(instruction, 1, code)
        old = frame.scalar_source(instruction, 0, code)
        chosen = frame.builder.select(frame.registers.condition_code, new, old)
        frame.write_scalar(instruction.operands[0], chosen)

    return emit


_EXEC = {"b32": Register(RegisterFile.EXEC, 0), "b64": Register(RegisterFile.EXEC, 0, 2)}


def _save_exec(name: str, code: str) -> Emitter:
    """D = EXEC; EXEC = source <name> EXEC; SCC = EXEC != 0."""
    operation = LOGIC[name]

    def emit(frame: Frame, instruction: Instruction) -> None:
        source = frame.scalar_source(instruction, 1, code)
        old = frame.scalar_operand(_EXEC[code], code, instruction)
        new = operation(frame.builder, source, old)
        frame.write_scalar(instruction.operands[0], old)
        frame.write_scalar(_EXEC[code], new)
        frame.registers.write_condition_code(
            frame.builder.compare("ne", new, frame.builder.const(new, 0))
        )

    return emit


def _write_exec(name: str, code: str) -> Emitter:
    """EXEC = source <name> EXEC; D = EXEC; SCC = EXEC != 0."""
    operation = LOGIC[name]

    def emit(frame: Frame, instruction: Instruction) -> None:
        source = frame.scalar_source(instruction, 1, code)
        new = operation(frame.builder, source, frame.scalar_operand(_EXEC[code], code, instruction))
        frame.write_scalar(_EXEC[code], new)
        frame.write_scalar(instruction.operands[0], new)
        frame.registers.write_condition_code(
            frame.builder.compare("ne", new, frame.builder.const(new, 0))
        )

    return emit


def _move_immediate(frame: Frame, instruction: Instruction) -> None:
    frame.write_scalar(instruction.operands[0], constant("i32", instruction.immediates["simm16"]))


def _conditional_move_immediate(frame: Frame, instruction: Instruction) -> None:
    new = constant("i32", instruction.immediates["simm16"])
    old = frame.scalar_source(instruction, 0, "b32")
    chosen = frame.builder.select(frame.registers.condition_code, new, old)
    frame.write_scalar(instruction.operands[0], chosen)


def _add_immediate(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    old = frame.scalar_source(instruction, 0, "i32")
    addend = constant("i32", instruction.immediates["simm16"])
    result = b.add(old, addend)
    frame.write_scalar(instruction.operands[0], result)
    overflow = b.and_(b.xor(result, old), b.xor(result, addend))
    frame.registers.write_condition_code(b.compare("slt", overflow, constant("i32", 0)))


def _multiply_immediate(frame: Frame, instruction: Instruction) -> None:
    old = frame.scalar_source(instruction, 0, "i32")
    factor = constant("i32", instruction.immediates["simm16"])
    frame.write_scalar(instruction.operands[0], frame.builder.mul(old, factor))


def _program_counter(frame: Frame, instruction: Instruction) -> None:
    following = constant("i64", instruction.pc + instruction.size)
    address = frame.builder.add(frame.context(Context.LOAD_BIAS), following)
    frame.write_scalar(instruction.operands[0], address)


def _nothing(frame: Frame, instruction: Instruction) -> None:
    """Waits, hints and cache operations: the emulator does everything in order."""


# LLVM: SIDefines.h, "MSG_DEALLOC_VGPRS": a wave that is about to end gives its registers back.
_DEALLOCATE_VGPRS = 3


def _message(frame: Frame, instruction: Instruction) -> None:
    if instruction.immediates["simm16"] != _DEALLOCATE_VGPRS:
        raise Untranslatable(instruction, "of the messages, only MSG_DEALLOC_VGPRS is emulated")


_NO_EFFECT = [
    "s_nop",
    "s_clause",
    "s_delay_alu",
    "s_wait_alu",
    "s_waitcnt",
    "s_wait_idle",
    "s_wait_event",
    "s_code_end",
    "s_setprio",
    "s_wakeup",
    "s_incperflevel",
    "s_decperflevel",
    "s_ttracedata",
    "s_ttracedata_imm",
    "s_icache_inv",
    "s_version",
    "s_atc_probe",
    "s_atc_probe_buffer",
    "s_wait_loadcnt",
    "s_wait_storecnt",
    "s_wait_samplecnt",
    "s_wait_bvhcnt",
    "s_wait_expcnt",
    "s_wait_dscnt",
    "s_wait_kmcnt",
    "s_wait_loadcnt_dscnt",
    "s_wait_storecnt_dscnt",
    "s_dcache_inv",
    "s_prefetch_inst",
    "s_prefetch_inst_pc_rel",
    "s_prefetch_data",
    "s_buffer_prefetch_data",
    "s_prefetch_data_pc_rel",
    "global_inv",
    "global_wb",
    "global_wbinv",
    "v_nop",
    "ds_nop",
    "v_pipeflush",
]

SCALAR_CONTROL: Mapping[str, Emitter] = {
    **_comparisons(),
    "s_cselect_b32": _select("b32"),
    "s_cselect_b64": _select("b64"),
    "s_cmov_b32": _conditional_move("b32"),
    "s_cmov_b64": _conditional_move("b64"),
    **{f"s_{name}_saveexec_{code}": _save_exec(name, code) for name in LOGIC for code in _EXEC},
    **{
        f"s_{name}_wrexec_{code}": _write_exec(name, code)
        for name in ("and_not0", "and_not1")
        for code in _EXEC
    },
    "s_movk_i32": _move_immediate,
    "s_cmovk_i32": _conditional_move_immediate,
    "s_addk_co_i32": _add_immediate,
    "s_mulk_i32": _multiply_immediate,
    "s_getpc_b64": _program_counter,
    "s_sendmsg": _message,
    **dict.fromkeys(_NO_EFFECT, _nothing),
}
