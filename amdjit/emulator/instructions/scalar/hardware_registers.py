"""Instructions on the MODE register, and on the hardware registers that can be read."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.layout import PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import CONTEXT, Frame
from amdjit.isa.analysis.mode import ALL_BITS, mode_after, written_bits
from amdjit.isa.instruction import InlineConstant, Instruction, Literal

# By LLVM's names, without their prefixes.
_MODES = ("WAVE_MODE", "MODE")
# Of gfx12, and before.
_EXCEPTION_FLAGS = ("WAVE_EXCP_FLAG_USER", "TRAPSTS")
_TRAP_CONTROL = "WAVE_TRAP_CTRL"
_SHADER_CYCLES = ("SHADER_CYCLES_LO", "SHADER_CYCLES")
_SHADER_CYCLES_HIGH = "SHADER_CYCLES_HI"
# What some have always: no traps are enabled; there is one die; bits 63:48 of the apertures' flat
# addresses, of private memory and, in the upper half, of LDS (LLVM: SITargetLowering,
# getSegmentAperture).
_KNOWN: Mapping[str, int] = {
    _TRAP_CONTROL: 0,
    "XCC_ID": 0,
    "SH_MEM_BASES": SHARED_APERTURE_HIGH & 0xFFFF0000 | PRIVATE_APERTURE_HIGH >> 16,
}
_NO_FLAGS = (
    "the emulator does not record float exceptions; EXCP_FLAG_USER, before gfx12 TRAPSTS, can be "
    "cleared, but not read"
)
_NO_BITS = "these bits of MODE are reserved, or enable traps, which are not emulated"
_NO_TRAPS = "traps on float exceptions are not emulated: TRAP_CTRL can only be set to 0"


def _register(instruction: Instruction) -> str:
    """Return the name of the hardware register, "" for an unknown one."""
    names = instruction.opcode.instruction_set.hardware_registers
    return names.get(instruction.immediates["hwreg_id"], "").removeprefix("HW_REG_")


def _set_mode(frame: Frame, instruction: Instruction) -> None:
    """S_ROUND_MODE and S_DENORM_MODE."""
    _become(frame, instruction, None)


def _become(frame: Frame, instruction: Instruction, bits: Value | None) -> None:
    """Follow a write of MODE. `bits`: the written bits in their place, unless they are known at
    translation."""
    mask = written_bits(instruction)
    frame.set_mode(mode_after(instruction, frame.mode))
    if not frame.modes.varies:
        return
    b = frame.builder
    new = (
        constant("i32", frame.mode.value & mask)
        if bits is None
        else b.and_(bits, constant("i32", mask))
    )
    kept = b.and_(frame.registers.mode_bits(), constant("i32", ~mask))
    frame.registers.write_mode_bits(b.or_(kept, new))


def _must_be_clear(
    frame: Frame, instruction: Instruction, others: int, reason: str
) -> Value | None:
    """Return the written bits in their place, None if they are known at translation; refuse a write
    that sets one of `others`."""
    operand, first = instruction.operands[0], instruction.immediates["hwreg_offset"]
    if isinstance(operand, (InlineConstant, Literal)):
        written = (1 << instruction.immediates["hwreg_size"]) - 1 << first
        if int(operand.value) << first & others & written:
            raise Untranslatable(instruction, reason)
        return None
    b = frame.builder
    bits = b.shift("shl", frame.scalar_operand(operand, "b32", instruction), first)
    written = (1 << instruction.immediates["hwreg_size"]) - 1 << first & others
    if written:
        wrong = b.compare("ne", b.and_(bits, constant("i32", written)), constant("i32", 0))
        frame.native_void(
            "aj_refuse_mode", [CONTEXT, frame.sites.add(instruction.pc), b.resize(wrong, 32)]
        )
    return bits


def _set_register(frame: Frame, instruction: Instruction) -> None:
    """S_SETREG: write MODE, or zeros to the registers of exceptions."""
    name = _register(instruction)
    if name in _MODES:
        others = ~instruction.opcode.instruction_set.mode_bits & 0xFFFFFFFF
        bits = _must_be_clear(frame, instruction, others, _NO_BITS)
        _become(frame, instruction, bits)
    elif name == _TRAP_CONTROL:
        _must_be_clear(frame, instruction, 0xFFFFFFFF, _NO_TRAPS)
    elif name in _EXCEPTION_FLAGS:
        _must_be_clear(frame, instruction, 0xFFFFFFFF, _NO_FLAGS)
    else:
        raise Untranslatable(
            instruction, "this hardware register cannot be written in the emulator"
        )


def _get_register(frame: Frame, instruction: Instruction) -> None:
    """S_GETREG: read MODE, the cycle counters, or what is always the same; other hardware registers
    are not emulated."""
    b = frame.builder
    name, first = _register(instruction), instruction.immediates["hwreg_offset"]
    if name in _MODES:
        mode = frame.mode
        whole = (
            constant("i32", mode.value) if mode.known == ALL_BITS else frame.registers.mode_bits()
        )
    elif name in _KNOWN:
        whole = constant("i32", _KNOWN[name])
    elif name in (*_SHADER_CYCLES, _SHADER_CYCLES_HIGH):
        low, high = b.split_bits(b.call("llvm.readcyclecounter", "i64", []))
        whole = low if name != _SHADER_CYCLES_HIGH else high
    elif name in _EXCEPTION_FLAGS:
        raise Untranslatable(instruction, _NO_FLAGS)
    else:
        raise Untranslatable(instruction, "this hardware register cannot be read in the emulator")
    size = instruction.immediates["hwreg_size"]
    field = b.shift("lshr", whole, first) if first else whole
    frame.write_scalar(instruction.operands[0], b.mask(field, size) if size < 32 else field)


# RTN_GET_REALTIME (RDNA 3 ISA, S_SENDMSG).
_MESSAGE_REAL_TIME = 0x83


def _message_with_result(frame: Frame, instruction: Instruction) -> None:
    if instruction.immediates["message"] != _MESSAGE_REAL_TIME:
        raise Untranslatable(
            instruction, "the only message with a result that is emulated is the real time"
        )
    b = frame.builder
    cycles = b.call("llvm.readcyclecounter", "i64", [])
    narrow = instruction.opcode.operands[0].dwords == 1
    frame.write_scalar(instruction.operands[0], b.resize(cycles, 32) if narrow else cycles)


def _time(frame: Frame, instruction: Instruction) -> None:
    """S_MEMTIME and S_MEMREALTIME: the host's clock stands for both."""
    cycles = frame.builder.call("llvm.readcyclecounter", "i64", [])
    frame.write_scalar(instruction.operands[0], cycles)


HARDWARE_REGISTERS: Mapping[str, Emitter] = {
    "s_denorm_mode": _set_mode,
    "s_round_mode": _set_mode,
    "s_setreg_imm32_b32": _set_register,
    "s_setreg_b32": _set_register,
    "s_getreg_b32": _get_register,
    "s_sendmsg_rtn_b32": _message_with_result,
    "s_sendmsg_rtn_b64": _message_with_result,
    "s_memtime": _time,
    "s_memrealtime": _time,
}
