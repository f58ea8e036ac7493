"""How llvm-objdump writes immediates that only gfx9 has, or has in other bits."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.isa.immediate_text import program_text as common_text
from amdjit.isa.traits import Immediate

_DATA_FORMATS = (
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
)
_NUMBER_FORMATS = (
    "UNORM",
    "SNORM",
    "USCALED",
    "SSCALED",
    "UINT",
    "SINT",
    "RESERVED_6",
    "FLOAT",
)
_DEFAULT_DATA, _DEFAULT_NUMBER = 1, 0
_INDEX_MODES = ("SRC0", "SRC1", "SRC2", "DST")
_CONTROLS: Mapping[int, str] = {
    0x130: "wave_shl:1",
    0x134: "wave_rol:1",
    0x138: "wave_shr:1",
    0x13C: "wave_ror:1",
    0x140: "row_mirror",
    0x141: "row_half_mirror",
    0x142: "row_bcast:15",
    0x143: "row_bcast:31",
}
_ROWS: Mapping[int, str] = {
    0x10: "row_shl",
    0x11: "row_shr",
    0x12: "row_ror",
    0x15: "row_newbcast",
}
_GS, _GS_DONE, _SYSTEM = 2, 3, 15
_GS_OPERATIONS = ("GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT")
_SYSTEM_OPERATIONS: Mapping[int, str] = {
    1: "SYSMSG_OP_ECC_ERR_INTERRUPT",
    2: "SYSMSG_OP_REG_RD",
    3: "SYSMSG_OP_HOST_TRAP_ACK",
    4: "SYSMSG_OP_TTRACE_PC",
}


def control_text(control: int) -> str:
    """Return a DPP control."""
    if control <= 0xFF:
        return "quad_perm:[" + ",".join(str((control >> shift) & 3) for shift in (0, 2, 4, 6)) + "]"
    found = _CONTROLS.get(control)
    return found or f"{_ROWS[control >> 4]}:{control & 15}"


def buffer_format_text(value: int) -> str:
    """Return the format of a typed buffer access, with a leading blank; the usual one is left
    out."""
    data, number = value & 15, value >> 4
    if (data, number) == (_DEFAULT_DATA, _DEFAULT_NUMBER):
        return ""
    names = []
    if data != _DEFAULT_DATA:
        names.append(f"BUF_DATA_FORMAT_{_DATA_FORMATS[data]}")
    if number != _DEFAULT_NUMBER:
        names.append(f"BUF_NUM_FORMAT_{_NUMBER_FORMATS[number]}")
    return f" format:[{','.join(names)}]"


def index_mode_text(value: int) -> str:
    """Return the operands that s_set_gpr_idx_on and s_set_gpr_idx_mode index."""
    if value >= 1 << len(_INDEX_MODES):
        return f"0x{value:x}"
    return "gpr_idx(" + ",".join(n for bit, n in enumerate(_INDEX_MODES) if value >> bit & 1) + ")"


def program_text(immediate: Immediate, value: int, messages: Mapping[int, str]) -> str:
    """Return the text of an SOPP's simm16 (its 16 bits), without a leading blank."""
    value &= 0xFFFF
    if immediate is Immediate.OLD_COUNTERS:
        return _waitcnt_text(value)
    if immediate is Immediate.INDEX_MODE:
        return index_mode_text(value)
    if immediate is Immediate.MESSAGE:
        return _message_text(value, messages)
    return common_text(immediate, value, messages)


def _waitcnt_text(value: int) -> str:
    counters = (
        ("vmcnt", value & 15 | (value >> 14) << 4, 63),
        ("expcnt", (value >> 4) & 7, 7),
        ("lgkmcnt", (value >> 8) & 15, 15),
    )
    changed = [item for item in counters if item[1] != item[2]] or counters
    return " ".join(f"{name}({count})" for name, count, _ in changed)


def _message_text(value: int, messages: Mapping[int, str]) -> str:
    """Messages have an operation in bits 6:4 and a stream in bits 9:8."""
    number, operation, stream = value & 15, (value >> 4) & 7, (value >> 8) & 3
    if value & ~0x37F:
        return str(value)
    name = messages.get(number)
    if number in (_GS, _GS_DONE) and operation < len(_GS_OPERATIONS):
        if operation == 0:
            fits = number == _GS_DONE and stream == 0
            return f"sendmsg({name}, {_GS_OPERATIONS[0]})" if fits else _numbers(value)
        return f"sendmsg({name}, {_GS_OPERATIONS[operation]}, {stream})"
    if number == _SYSTEM and operation in _SYSTEM_OPERATIONS and stream == 0:
        return f"sendmsg({name}, {_SYSTEM_OPERATIONS[operation]})"
    if name and operation == 0 and stream == 0 and number not in (_GS, _GS_DONE, _SYSTEM):
        return f"sendmsg({name})"
    return _numbers(value)


def _numbers(value: int) -> str:
    return f"sendmsg({value & 15}, {(value >> 4) & 7}, {(value >> 8) & 3})"
