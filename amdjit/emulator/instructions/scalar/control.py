"""SALU instructions that read or write SCC and EXEC, and those with an immediate."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, bits_of, constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.layout import Context
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.isa.analysis.control_flow import Graph
from amdjit.isa.floats.comparisons import FLOAT_PREDICATES, compare, predicate_of
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.integer_rows import LOGIC
from amdjit.isa.traits import Immediate


def _compare(name: str) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        x, y = (frame.scalar_source(instruction, index) for index in (0, 1))
        predicate = predicate_of(name, instruction.opcode.operands[0].type)
        frame.registers.write_condition_code(compare(frame.builder, predicate, x, y))

    return emit


def _compare_immediate(name: str, signed: bool) -> Emitter:
    """S_CMPK_*: the immediate is sign-extended or zero-extended, as the operand is read."""

    def emit(frame: Frame, instruction: Instruction) -> None:
        immediate = instruction.immediates["simm16"]
        y = constant("i32", immediate if signed else immediate & 0xFFFF)
        x = frame.scalar_source(instruction, 0, "i32")
        predicate = predicate_of(name, "i32" if signed else "u32")
        frame.registers.write_condition_code(compare(frame.builder, predicate, x, y))

    return emit


def _test_bit(value: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        b = frame.builder
        x = frame.scalar_source(instruction, 0)
        position = b.resize(frame.scalar_source(instruction, 1), bits_of(x.type))
        bit = b.resize(b.shift("lshr", x, position), 1)
        frame.registers.write_condition_code(bit if value else b.not_(bit))

    return emit


# The integers' "not equal" is called lg in SALU and ne in VALU comparisons.
_INTEGER_NAMES = {"eq": "eq", "lg": "ne", "gt": "gt", "ge": "ge", "lt": "lt", "le": "le"}
_COMPARISONS: Mapping[str, Emitter] = {
    **{
        f"s_cmp_{name}_{code}": _compare(vector_name)
        for name, vector_name in _INTEGER_NAMES.items()
        for code in ("i32", "u32")
    },
    **{
        f"s_cmpk_{name}_{code}": _compare_immediate(vector_name, code == "i32")
        for name, vector_name in _INTEGER_NAMES.items()
        for code in ("i32", "u32")
    },
    "s_cmp_eq_u64": _compare("eq"),
    "s_cmp_lg_u64": _compare("ne"),
    **{
        f"s_cmp_{name}_{code}": _compare(name)
        for name in FLOAT_PREDICATES
        for code in ("f16", "f32")
    },
    "s_bitcmp0_b32": _test_bit(0),
    "s_bitcmp0_b64": _test_bit(0),
    "s_bitcmp1_b32": _test_bit(1),
    "s_bitcmp1_b64": _test_bit(1),
}


def _select(frame: Frame, instruction: Instruction) -> None:
    x, y = (frame.scalar_source(instruction, index) for index in (1, 2))
    chosen = frame.builder.select(frame.registers.condition_code, x, y)
    frame.write_scalar(instruction.operands[0], chosen)


def _conditional_move(frame: Frame, instruction: Instruction) -> None:
    new, old = (frame.scalar_source(instruction, index) for index in (1, 0))
    chosen = frame.builder.select(frame.registers.condition_code, new, old)
    frame.write_scalar(instruction.operands[0], chosen)


# EXEC as wide as an instruction's source.
_EXEC = {"b32": Register(RegisterFile.EXEC, 0), "b64": Register(RegisterFile.EXEC, 0, 2)}


def _source_and_exec(frame: Frame, instruction: Instruction) -> tuple[Value, Value]:
    source, code = frame.scalar_source(instruction, 1), instruction.opcode.operands[1].type
    return source, frame.scalar_operand(_EXEC[code], code, instruction)


def _write_to_exec(frame: Frame, instruction: Instruction, value: Value) -> None:
    frame.write_scalar(_EXEC[instruction.opcode.operands[1].type], value)


def _save_exec(name: str) -> Emitter:
    """D = EXEC; EXEC = source <name> EXEC; SCC = EXEC != 0."""
    operation = LOGIC[name]

    def emit(frame: Frame, instruction: Instruction) -> None:
        source, old = _source_and_exec(frame, instruction)
        new = operation(frame.builder, source, old)
        frame.write_scalar(instruction.operands[0], old)
        _write_to_exec(frame, instruction, new)
        frame.registers.write_condition_code(
            frame.builder.compare("ne", new, frame.builder.const(new, 0))
        )

    return emit


def _write_exec(name: str) -> Emitter:
    """EXEC = source <name> EXEC; D = EXEC; SCC = EXEC != 0."""
    operation = LOGIC[name]

    def emit(frame: Frame, instruction: Instruction) -> None:
        new = operation(frame.builder, *_source_and_exec(frame, instruction))
        _write_to_exec(frame, instruction, new)
        frame.write_scalar(instruction.operands[0], new)
        frame.registers.write_condition_code(
            frame.builder.compare("ne", new, frame.builder.const(new, 0))
        )

    return emit


def _move_immediate(frame: Frame, instruction: Instruction) -> None:
    frame.write_scalar(instruction.operands[0], constant("i32", instruction.immediates["simm16"]))


def _conditional_move_immediate(frame: Frame, instruction: Instruction) -> None:
    new = constant("i32", instruction.immediates["simm16"])
    old = frame.scalar_source(instruction, 0)
    chosen = frame.builder.select(frame.registers.condition_code, new, old)
    frame.write_scalar(instruction.operands[0], chosen)


def _add_immediate(frame: Frame, instruction: Instruction) -> None:
    b = frame.builder
    old = frame.scalar_source(instruction, 0)
    addend = constant("i32", instruction.immediates["simm16"])
    result = b.add(old, addend)
    frame.write_scalar(instruction.operands[0], result)
    overflow = b.and_(b.xor(result, old), b.xor(result, addend))
    frame.registers.write_condition_code(b.compare("slt", overflow, constant("i32", 0)))


def _multiply_immediate(frame: Frame, instruction: Instruction) -> None:
    old = frame.scalar_source(instruction, 0)
    factor = constant("i32", instruction.immediates["simm16"])
    frame.write_scalar(instruction.operands[0], frame.builder.mul(old, factor))


def _program_counter(frame: Frame, instruction: Instruction) -> None:
    following = frame.sites.address(instruction.pc + instruction.size)
    address = frame.builder.add(frame.context(Context.LOAD_BIAS), following)
    frame.write_scalar(instruction.operands[0], address)


def _nothing(frame: Frame, instruction: Instruction) -> None:
    """Emit nothing for waits, hints and cache operations: the emulator does everything in order."""


# LLVM: SIDefines.h, "MSG_DEALLOC_VGPRS": a wave that is about to end releases its registers.
_DEALLOCATE_VGPRS, INTERRUPT = "MSG_DEALLOC_VGPRS", "MSG_INTERRUPT"


def interrupts_host(instruction: Instruction) -> bool:
    """Whether an instruction is the message by which ROCm's device library calls the host."""
    names = instruction.opcode.instruction_set.messages
    is_message = instruction.traits.immediate is Immediate.MESSAGE
    return is_message and names.get(instruction.immediates.get("simm16", -1)) == INTERRUPT


def calls_host(graph: Graph) -> bool:
    """Whether a kernel may interrupt the host."""
    blocks = graph.blocks.values()
    return any(interrupts_host(each) for block in blocks for each in block.instructions)


def _message(frame: Frame, instruction: Instruction) -> None:
    names = instruction.opcode.instruction_set.messages
    if interrupts_host(instruction):
        # The native function is in `scheduling/host_calls.py`.
        frame.native_void("aj_host_call", [CONTEXT, frame.sites.add(instruction.pc)])
    elif names.get(instruction.immediates["simm16"]) != _DEALLOCATE_VGPRS:
        known = [name for name in (INTERRUPT, _DEALLOCATE_VGPRS) if name in names.values()]
        reason = f"messages other than {' and '.join(known)} are not emulated"
        raise Untranslatable(instruction, reason)


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
    "s_dcache_inv_vol",
    "s_dcache_wb",
    "s_dcache_wb_vol",
    "s_gl1_inv",
    "s_set_inst_prefetch_distance",
    "s_waitcnt_vmcnt",
    "s_waitcnt_vscnt",
    "s_waitcnt_expcnt",
    "s_waitcnt_lgkmcnt",
    "buffer_gl0_inv",
    "buffer_inv",
    "buffer_invl2",
    "buffer_wbinvl1",
    "buffer_wbinvl1_vol",
    "buffer_wbl2",
    "buffer_gl1_inv",
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

# They branch if a debugger has set its bits of STATUS (RDNA 3 ISA, S_CBRANCH_CDBGSYS). There is no
# debugger here, and a wave cannot set them.
_DEBUGGER = ("sys", "user", "sys_or_user", "sys_and_user")

SCALAR_CONTROL: Mapping[str, Emitter] = {
    **_COMPARISONS,
    "s_cselect_b32": _select,
    "s_cselect_b64": _select,
    "s_cmov_b32": _conditional_move,
    "s_cmov_b64": _conditional_move,
    **{f"s_{name}_saveexec_{code}": _save_exec(name) for name in LOGIC for code in _EXEC},
    **{
        f"s_{name}_wrexec_{code}": _write_exec(name)
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
    **dict.fromkeys((f"s_cbranch_cdbg{name}" for name in _DEBUGGER), _nothing),
}
