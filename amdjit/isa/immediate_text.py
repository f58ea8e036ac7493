"""How llvm-objdump writes the immediates of SOPP, SOPK, memory and LDS instructions, and DPP."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.abi.buffer_formats import BUFFER_FORMATS
from amdjit.isa.hardware_names import QUAD_PERMUTATIONS
from amdjit.isa.instruction_set import InstructionSet
from amdjit.isa.traits import Immediate
from amdjit.isa.wait_counters import GFX11_COUNTERS, WaitField

_DEPENDENCIES = (
    "NO_DEP",
    "VALU_DEP_1",
    "VALU_DEP_2",
    "VALU_DEP_3",
    "VALU_DEP_4",
    "TRANS32_DEP_1",
    "TRANS32_DEP_2",
    "TRANS32_DEP_3",
    "FMA_ACCUM_CYCLE_1",
    "SALU_CYCLE_1",
    "SALU_CYCLE_2",
    "SALU_CYCLE_3",
)
_SKIPS = ("SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4")
# Name, shift and width of the fields of s_wait_alu, in the order of the text. Their default is all
# ones.
_DEPENDENCY_COUNTERS = (
    ("hold_cnt", 7, 1),
    ("sa_sdst", 0, 1),
    ("va_vdst", 12, 4),
    ("va_sdst", 9, 3),
    ("va_ssrc", 8, 1),
    ("va_vcc", 1, 1),
    ("vm_vsrc", 2, 3),
)
_SCOPES = ("", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS")
_POLICIES = ("", "NT", "HT", "", "NT_RT", "RT_NT", "NT_HT", "NT_WB")
_POLICY_BITS = ("glc", "slc", "dlc", "scc", "sc0", "nt", "sc1")
_GS = (2, 3)
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
_VERSIONS = {
    0: "UC_VERSION_GFX7",
    4: "UC_VERSION_GFX10",
    6: "UC_VERSION_GFX11",
    9: "UC_VERSION_GFX12",
}
_VERSION_FLAGS = {13: "UC_VERSION_W64_BIT", 14: "UC_VERSION_W32_BIT", 15: "UC_VERSION_MDP_BIT"}


def short_text(value: int) -> str:
    """Return 0..64 in decimal, anything else in hexadecimal."""
    return str(value) if value <= 64 else f"0x{value:x}"


def program_text(immediate: Immediate, value: int, instruction_set: InstructionSet) -> str:
    """Return the text of an SOPP's simm16 (its 16 bits), without a leading blank."""
    value &= 0xFFFF
    if immediate is Immediate.MESSAGE:
        return message_text(value, instruction_set)
    if immediate is Immediate.OLD_COUNTERS:
        # gfx12 writes gfx11's counters, which it has no longer.
        waits = instruction_set.wait_counters.waits
        return _waitcnt_text(value, waits.get("s_waitcnt", GFX11_COUNTERS.waits["s_waitcnt"]))
    return _PROGRAM_TEXTS.get(immediate, short_text)(value)


def hardware_register_text(value: int, registers: Mapping[int, str]) -> str:
    """Return hwreg(...) of a getreg or setreg. registers: the family's."""
    number, offset, size = value & 63, (value >> 6) & 31, (value >> 11) + 1
    name = registers.get(number, str(number))
    return f"hwreg({name})" if (offset, size) == (0, 32) else f"hwreg({name}, {offset}, {size})"


def message_text(value: int, instruction_set: InstructionSet) -> str:
    """Return sendmsg(...), or the number of an unknown message."""
    if instruction_set.message_operations:
        return _operation_text(value, instruction_set)
    name = instruction_set.messages.get(value & 0xFF)
    if name:
        return f"sendmsg({name})"
    return str(value) if value > 0xFF else f"sendmsg({value}, 0, 0)"


def _operation_text(value: int, instruction_set: InstructionSet) -> str:
    """Messages of older processors have an operation in bits 6:4 and a stream in bits 9:8."""
    number, operation, stream = value & 15, (value >> 4) & 7, (value >> 8) & 3
    if value & ~0x37F:
        return str(value)
    name = instruction_set.messages.get(number)
    if number not in instruction_set.message_operations:
        if name and operation == 0 and stream == 0:
            return f"sendmsg({name})"
    elif operation in (known := instruction_set.message_operations[number]):
        of_stream = number in _GS and operation > 0
        if of_stream or (stream == 0 and number != _GS[0]):
            listed = [name, known[operation], *([str(stream)] if of_stream else [])]
            return f"sendmsg({', '.join(map(str, listed))})"
    return f"sendmsg({number}, {operation}, {stream})"


def index_mode_text(value: int) -> str:
    """Return the operands that s_set_gpr_idx_on and s_set_gpr_idx_mode index."""
    if value >= 1 << len(_INDEX_MODES):
        return f"0x{value:x}"
    return "gpr_idx(" + ",".join(n for bit, n in enumerate(_INDEX_MODES) if value >> bit & 1) + ")"


def control_text(control: int, controls: Mapping[int, str]) -> str:
    """Return a control of DPP. controls: the family's."""
    if control <= QUAD_PERMUTATIONS:
        return "quad_perm:[" + ",".join(str((control >> shift) & 3) for shift in (0, 2, 4, 6)) + "]"
    return controls[control]


def buffer_format_text(value: int, is_split: bool) -> str:
    """Return the format of a typed buffer access, with a leading blank; the usual one is left out.

    is_split: it is a data format and a number format.
    """
    if not is_split:
        name = f"[{BUFFER_FORMATS[value]}]" if value in BUFFER_FORMATS else str(value)
        return "" if value == _DEFAULT_DATA else f" format:{name}"
    data, number = value & 15, value >> 4
    names = []
    if data != _DEFAULT_DATA:
        names.append(f"BUF_DATA_FORMAT_{_DATA_FORMATS[data]}")
    if number != _DEFAULT_NUMBER:
        names.append(f"BUF_NUM_FORMAT_{_NUMBER_FORMATS[number]}")
    return f" format:[{','.join(names)}]" if names else ""


def version_text(value: int) -> str:
    """Return the text of s_version's simm16."""
    if value & 0x1F00:
        return f"0x{value:x}"
    text = _VERSIONS.get(value & 0xFF, str(value & 0xFF))
    for bit, name in _VERSION_FLAGS.items():
        if (value >> bit) & 1:
            text = f"({text})|{name}" if "|" in text else f"{text}|{name}"
    return text


def _end_text(value: int) -> str:
    return str(value) if value else ""


def _delay_text(value: int) -> str:
    parts = []
    for name, shift, mask, names in (
        ("instid0", 0, 15, _DEPENDENCIES),
        ("instskip", 4, 7, _SKIPS),
        ("instid1", 7, 15, _DEPENDENCIES),
    ):
        field = (value >> shift) & mask
        unknown = f"/* invalid {name.rstrip('01')} value */"
        if field:
            parts.append(f"{name}({names[field] if field < len(names) else unknown})")
    return " | ".join(parts) or "0"


def _dependency_text(value: int) -> str:
    if value & 0x60:
        return f"0x{value:x}"
    counters = [
        (name, (value >> shift) & ((1 << width) - 1), width)
        for name, shift, width in _DEPENDENCY_COUNTERS
    ]
    changed = [item for item in counters if item[1] != (1 << item[2]) - 1] or counters
    return " ".join(f"depctr_{name}({count})" for name, count, _ in changed)


def _waitcnt_text(value: int, fields: tuple[WaitField, ...]) -> str:
    counts = {field.counter.name: (field.left(value), field.left(0xFFFF)) for field in fields}
    counters = [(name, *counts[name]) for name in ("vmcnt", "expcnt", "lgkmcnt")]
    changed = [item for item in counters if item[1] != item[2]] or counters
    return " ".join(f"{name}({count})" for name, count, _ in changed)


_PROGRAM_TEXTS: Mapping[Immediate, Callable[[int], str]] = {
    Immediate.BRANCH: str,
    Immediate.BITS: hex,
    Immediate.CLAUSE: hex,
    Immediate.END: _end_text,
    Immediate.DELAYS: _delay_text,
    Immediate.DEPENDENCIES: _dependency_text,
    Immediate.INDEX_MODE: index_mode_text,
}


def policy_text(immediates: dict[str, int], atomic: bool, store: bool) -> str:
    """Return the temporal hint and the scope of a memory access, or the bits of older
    processors."""
    if "glc" in immediates or "sc0" in immediates:
        return "".join(f" {name}" for name in _POLICY_BITS if immediates.get(name))
    hint, scope = immediates.get("th", 0), immediates.get("scope", 0)
    text = ""
    if hint:
        text = " th:" + (_atomic_hint(hint, scope) if atomic else _plain_hint(hint, scope, store))
    return text + _SCOPES[scope]


def _atomic_hint(hint: int, scope: int) -> str:
    if hint & 4:
        if scope < 2:
            return f"TH_ATOMIC_0x{hint:x}"
        return "TH_ATOMIC_CASCADE" + ("_NT" if hint & 2 else "_RT")
    if hint & 2:
        return "TH_ATOMIC_NT" + ("_RETURN" if hint & 1 else "")
    return "TH_ATOMIC_RETURN"


def _plain_hint(hint: int, scope: int, store: bool) -> str:
    if hint == 7 and not store:
        return "0x7"
    name = _POLICIES[hint]
    if hint == 3:
        name = "BYPASS" if scope == 3 else "WB" if store else "LU"
    return f"TH_{'STORE' if store else 'LOAD'}_{name}"


def swizzle_text(value: int) -> str:
    """Return the offset of ds_swizzle_b32."""
    if value == 0:
        return ""
    if value & 0xFF00 == 0x8000:
        return (
            " offset:swizzle(QUAD_PERM,"
            + ",".join(str((value >> shift) & 3) for shift in (0, 2, 4, 6))
            + ")"
        )
    if value >= 0xE000:
        return f" offset:swizzle(FFT,{value & 31})"
    if value >= 0xC000:
        return f" offset:swizzle(ROTATE,{(value >> 10) & 1},{(value >> 5) & 31})"
    if value & 0x8000:
        return f" offset:{value}"
    return f" offset:swizzle({_bitmask_text(value & 31, (value >> 5) & 31, (value >> 10) & 31)})"


def _bitmask_text(and_mask: int, or_mask: int, xor_mask: int) -> str:
    if and_mask == 31 and or_mask == 0 and xor_mask.bit_count() == 1:
        return f"SWAP,{xor_mask}"
    if and_mask == 31 and or_mask == 0 and xor_mask and xor_mask & (xor_mask + 1) == 0:
        return f"REVERSE,{xor_mask + 1}"
    group = 32 - and_mask
    if group > 1 and group & (group - 1) == 0 and or_mask < group and xor_mask == 0:
        return f"BROADCAST,{group},{or_mask}"
    low, high = or_mask ^ xor_mask, (and_mask | or_mask) ^ xor_mask
    letters = {(0, 0): "0", (1, 1): "1", (0, 1): "p", (1, 0): "i"}
    text = "".join(letters[(low >> bit) & 1, (high >> bit) & 1] for bit in (4, 3, 2, 1, 0))
    return f'BITMASK_PERM,"{text}"'
