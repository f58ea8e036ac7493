"""What gfx9's assembler calls the instructions that the model knows by gfx12's names (CDNA 3 and
RDNA 4 ISA documents), and the lines of programs in its spelling."""

from __future__ import annotations

import re
from functools import cache

_IRREGULAR = {
    "s_add_co_u32": "s_add_u32",
    "s_sub_co_u32": "s_sub_u32",
    "s_add_co_i32": "s_add_i32",
    "s_sub_co_i32": "s_sub_i32",
    "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32",
    "s_ctz_i32_b32": "s_ff1_i32_b32",
    "s_ctz_i32_b64": "s_ff1_i32_b64",
    "s_clz_i32_u32": "s_flbit_i32_b32",
    "s_clz_i32_u64": "s_flbit_i32_b64",
    "s_cls_i32": "s_flbit_i32",
    "s_cls_i32_i64": "s_flbit_i32_i64",
    "v_add_co_ci_u32": "v_addc_co_u32",
    "v_sub_co_ci_u32": "v_subb_co_u32",
    "v_subrev_co_ci_u32": "v_subbrev_co_u32",
    "v_mad_co_u64_u32": "v_mad_u64_u32",
    "v_mad_co_i64_i32": "v_mad_i64_i32",
    "v_clz_i32_u32": "v_ffbh_u32",
    "v_ctz_i32_b32": "v_ffbl_b32",
    "v_cls_i32": "v_ffbh_i32",
    "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32",
    "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32",
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32",
    "v_mul_dx9_zero_f32": "v_mul_legacy_f32",
}
_WAITS = {
    "s_wait_loadcnt 0x0": "s_waitcnt vmcnt(0)",
    "s_wait_kmcnt 0x0": "s_waitcnt lgkmcnt(0)",
    "s_wait_dscnt 0x0": "s_waitcnt lgkmcnt(0)",
}
_SMALL = {
    "u8": "ubyte",
    "i8": "sbyte",
    "u16": "ushort",
    "i16": "sshort",
    "b16": "short",
    "b8": "byte",
}
_LDS = {
    "load": "read",
    "store": "write",
    "storexchg": "wrxchg",
    "cmpstore": "cmpst",
}
# The number of a workgroup does not stay where it comes.
GROUP = "s99"
_FREE = "v253"
_ADDRESSED = re.compile(r"^(\s*)(global_\w+) (.*), (s\[\d+:\d+\]|off) offset:(\d+)( .*)?$")
_FARTHEST = 4095


def _dwords(bits: str) -> str:
    return "dword" if bits == "32" else f"dwordx{int(bits) // 32}"


def _memory(name: str) -> str:
    """global_load_d16_hi_u8 -> global_load_ubyte_d16_hi, and so on."""
    found = re.fullmatch(r"(\w+?)_(load|store)_(?:(d16_hi|d16)_)?b(\d+)", name)
    if found and int(found[4]) >= 32:
        return f"{found[1]}_{found[2]}_{_dwords(found[4])}"
    found = re.fullmatch(r"(\w+?)_(load|store)_(?:(d16_hi|d16)_)?([uib]\d+)", name)
    if found:
        space, verb, half, size = found.groups()
        return f"{space}_{verb}_{_SMALL[size]}{f'_{half}' if half else ''}"
    found = re.fullmatch(r"(\w+?)_(load|store)_(d16|d16_hi)_format_(\w+)", name)
    if found:
        return f"{found[1]}_{found[2]}_format_{found[3]}_{found[4]}"
    found = re.fullmatch(r"(\w+?)_atomic_(min|max)_([iu])(32|64)", name)
    if found:
        sign = "s" if found[3] == "i" else "u"
        return f"{found[1]}_atomic_{sign}{found[2]}{'_x2' * (found[4] == '64')}"
    found = re.fullmatch(r"(\w+?)_atomic_(\w+)_[ub](32|64)", name)
    if found:
        return f"{found[1]}_atomic_{found[2]}{'_x2' * (found[3] == '64')}"
    return name


def _shared(name: str) -> str:
    """ds_store_2addr_stride64_b32 -> ds_write2st64_b32."""
    found = re.fullmatch(r"ds_(load|store|storexchg|cmpstore)_(.*)", name)
    if not found:
        return name
    rest = re.sub(r"^2addr_stride64_", "2st64_", found[2])
    rest = re.sub(r"^2addr_", "2_", rest)
    joint = "" if rest.startswith("2") else "_"
    return f"ds_{_LDS[found[1]]}{joint}{rest}"


@cache
def gfx9_name(name: str) -> str:
    """Return gfx9's name of an instruction that the model knows by gfx12's."""
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    if name.startswith("ds_"):
        return _shared(name)
    if re.match(r"(global|flat|scratch|t?buffer|s|s_buffer)_(load|store|atomic)_", name):
        return _memory(name)
    name = re.sub(r"^v_(add|sub|subrev)_nc_", r"v_\1_", name)
    name = re.sub(r"^v_cvt_pk_norm_", "v_cvt_pknorm_", name)
    name = re.sub(r"^v_(min|max)_num_", r"v_\1_", name)
    return re.sub(
        r"^s_(and|or)_not([01])_", lambda found: f"s_{found[1]}n{_inverted(found)}_", name
    )


def _inverted(found: re.Match[str]) -> int:
    """NOT0 inverts the first operand, which the older names count from one."""
    return int(found[2]) + 1


def as_gfx9(line: str, returning: str) -> str:
    """Return a line of a program in gfx9's spelling.

    returning: how atomics say that they return.
    """
    indent, word = line[: len(line) - len(line.lstrip())], line.strip()
    if word in _WAITS:
        return indent + _WAITS[word]
    name, _, rest = word.partition(" ")
    found = re.fullmatch(r"(\w+?)(_e32|_e64)?", name)
    own = gfx9_name(found[1]) + (found[2] or "") if found else name
    if name.startswith("v_add_co_"):
        rest = rest.replace("vcc_lo", "vcc")
    if "buffer_" in name:
        rest = rest.replace(", null", ", 0")
    text = f"{indent}{own} {rest}".rstrip().replace("ttmp9", GROUP)
    text = text.replace("th:TH_ATOMIC_RETURN", returning)
    far = _ADDRESSED.match(text)
    if far and int(far[5]) > _FARTHEST:
        return _farther(far)
    return text


def _farther(found: re.Match[str]) -> str:
    """An offset that does not fit is added in a register of its own."""
    indent, name, operands, base, offset, _ = found.groups()
    parts = operands.split(", ")
    place = 1 if "load" in name else 0
    moved = f"{indent}v_add_u32 {_FREE}, {offset}, {parts[place]}"
    parts[place] = _FREE
    return f"{moved}\n{indent}{name} {', '.join(parts)}, {base}"
