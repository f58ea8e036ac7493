"""Write intrinsics/builtins/amdgcn_builtins.tsv: a row for each clang `__builtin_amdgcn_*` that
LLVM selects somewhere.

    python tests/intrinsics/generate_builtin_table.py ../shared/data/amdgcn_builtins.json
    ranges.json

The first file is an inventory of clang's builtins (types, LLVM's call, targets, mnemonics); the
second has for each builtin and LLVM operand the constants that llc encodes, each differently, by
target.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from amdjit.intrinsics.models.mfma_instructions import CDNA, mfma_instructions

OUTPUT = Path(__file__).parents[2] / "intrinsics" / "builtins" / "amdgcn_builtins.tsv"
# Declared by hand, with a reference model: those modules need the table, so their text is read.
DECLARED = {
    name
    for module in ("integer", "real", "wave", "wmma", "wmma_gfx11")
    for name in re.findall(
        r"^@builtin.*?^def (\w+)", (OUTPUT.parent / f"{module}.py").read_text(), re.M | re.S
    )
}
# What clang's own types do not say: results beside the first, texts, orders of memory.
SIGNATURES = {
    "fence": "fence_order scope -> void",
    "div_scale": "f64 f64 flag -> (f64,boolean)",
    "div_scalef": "f32 f32 flag -> (f32,boolean)",
    "ldexph": "f16 i32 -> f16",
    "mov_dpp": "i32 dpp 0..15 0..15 flag -> i32",
    "update_dpp": "i32 i32 dpp 0..15 0..15 flag -> i32",
    "image_bvh8_intersect_ray": "u64 f32 u8 f32x3 f32x3 u32 u32x4 -> (u32x10,f32x3,f32x3)",
    "image_bvh_dual_intersect_ray": "u64 f32 u8 f32x3 f32x3 u32x2 u32x4 -> (u32x10,f32x3,f32x3)",
    **{
        f"atomic_{way}{bits}": f"*generic u{bits} order scope -> u{bits}"
        for way in ("inc", "dec")
        for bits in (32, 64)
    },
    **{f"ds_f{way}f": "*lds f32 order 0..4 flag -> f32" for way in ("add", "min", "max")},
}
SCALARS = {
    "int": "i32", "uint": "u32", "long": "i64", "ulong": "u64", "short": "i16", "ushort": "u16",
    "uchar": "u8",
    "char": "i8", "bool": "boolean", "half": "f16", "float": "f32", "double": "f64", "bf16": "bf16",
}  # fmt: skip
LLVM_SCALARS = {
    "i1": "boolean", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "half": "f16",
    "bfloat": "bf16",
    "float": "f32", "double": "f64",
}  # fmt: skip
# Constants whose meaning LLVM knows and whose range it does not check: its comparison predicates,
# strategies, counters.
RANGES = {
    "uicmp": "32..41", "uicmpl": "32..41", "sicmp": "32..41", "sicmpl": "32..41", "fcmp": "1..14",
    "fcmpf": "1..14",
    "iglp_opt": "0..3", "s_wait_asynccnt": "0..63", "s_wait_tensorcnt": "0..63",
}  # fmt: skip
HEAD = ["name", "group", "targets", "waves", "signature", "llvm", "operands", "isa"]


def kernel_type(clang: str) -> str:
    """Return a clang type as the kernel language writes it; pointers by their memory."""
    if clang == "__amdgpu_texture_t":
        return "i32x8"
    if clang == "__amdgpu_buffer_rsrc_t":
        return "*buffer"
    if clang.endswith("*"):
        spaces = ("global", "local", "constant")
        return "*" + next((space for space in spaces if space in clang.split()), "generic").replace(
            "local", "lds"
        )
    match = re.fullmatch(r"(bf16|[a-z]+)(\d*)", clang)
    if clang == "void" or match is None:
        return clang
    element = SCALARS[match[1]]
    return f"{element}x{match[2]}" if match[2] else element


def llvm_type(llvm: str) -> str:
    """Return an LLVM type as the kernel language writes it, signed."""
    match = re.fullmatch(r"<(\d+) x (\w+)>", llvm)
    if match is not None:
        return f"{LLVM_SCALARS[match[2]]}x{match[1]}"
    pointers = {"ptr": "*generic", "ptr addrspace(1)": "*global", "ptr addrspace(3)": "*lds",
                "ptr addrspace(4)": "*constant", "ptr addrspace(8)": "*buffer"}  # fmt: skip
    return pointers.get(llvm) or LLVM_SCALARS.get(llvm, llvm)


def unsigned_as_signed(type: str) -> str:
    return re.sub(r"^u(?=\d)", "i", type)


def range_text(ranges: dict[str, Any], llvm: str) -> str:
    """Return what every target takes: `0..15`, `{1,2,4}`, or all of the type where LLVM does not
    look."""
    most = 2**16 - 1 if llvm == "i16" else 2**31 - 1
    sets: list[tuple[int, int] | set[int]] = []
    for values in ranges.values():
        if values == "any":
            continue
        sets.append((0, values[2]) if ".." in values else set(values))
    tops = [item[1] for item in sets if isinstance(item, tuple)]
    tops = [most if top in (-1, 2**32 - 1) else top for top in tops]
    listed = [item for item in sets if isinstance(item, set)]
    if listed:
        common = set.intersection(*listed)
        if common == set(range(len(common))):
            return f"0..{len(common) - 1}"
        return "{" + ",".join(map(str, sorted(common))) + "}"
    return f"0..{min(tops, default=most)}"


def matrix_constants(name: str) -> tuple[str, ...]:
    """Return the ranges of the modifiers of an MFMA or SMFMAC, in clang's order; LLVM would take
    all numbers that fit."""
    found = next(mfma_instructions(target)[name] for target in reversed(CDNA)
                 if name in mfma_instructions(target))  # fmt: skip
    if found.is_scaled:
        return ("0..4", "0..4", "0..3", "0..3")
    if found.is_sparse:
        return ("0..7", f"0..{found.layout('index').sets - 1}")
    highest = found.highest_cbsz
    blgp = "negation" if found.negates else f"0..{found.highest_blgp}"
    return (f"0..{highest}", f"0..{(1 << highest) - 1}", blgp)


def known_constant(entry: dict[str, Any], operand: int) -> str | None:
    """Return the range of constants whose bits mean something else on each processor, so that none
    is refused.

    The last one of an access is its cache policy (on gfx12 TH and scope, ISA "Cache Controls"); an
    image access has a mask of components first, of one at most where the result is a number, and
    what a failed access returns: 0, or the result would be larger.
    """
    name = entry["builtin"].removeprefix("__builtin_amdgcn_")
    if name in RANGES or name.startswith("wave_reduce_"):
        return RANGES.get(name, "0..2")
    constants = [k for k in entry["immarg"] if entry["arg_types"][k] == "i32"]
    if entry["group"] in ("mfma", "smfmac"):
        return matrix_constants(name)[constants.index(operand)]
    if entry["group"] == "image":
        components = "{0,1,2,4,8}" if entry["ret_type"] in ("float", "half") else "0..15"
        place = constants.index(operand)
        return (
            "image_policy"
            if place == len(constants) - 1
            else "0..0"
            if place == len(constants) - 2
            else components
        )
    is_direct = entry["builtin"].endswith(("load_lds", "load_to_lds"))
    if is_direct and operand == constants[0]:
        return "lds_bytes"
    is_access = entry["group"] == "buffer" or is_direct
    return "0..31" if is_access and operand == constants[-1] else None


def signature(entry: dict[str, Any], ranges: dict[str, Any]) -> str:
    """Return `f32 f32 flag 0..7 -> f32`: types, and constants by their range."""
    name = entry["builtin"].removeprefix("__builtin_amdgcn_")
    if name in SIGNATURES:
        return SIGNATURES[name]
    if "arg_map" not in entry:
        return " ".join(
            [*map(kernel_type, entry["clang_args"]), "->", kernel_type(entry["clang_ret"])]
        )
    places = {m: k for k, m in enumerate(entry["arg_map"]) if isinstance(m, int)}
    words = []
    for number, clang in enumerate(entry["clang_args"]):
        if number not in places:  # clang's optional last argument
            continue
        operand = places[number]
        if clang == "const char*":
            words.append("scope")
        elif operand not in entry["immarg"]:
            words.append(kernel_type(clang))
        elif entry["arg_types"][operand] == "i1":
            words.append("flag")
        elif (fixed := known_constant(entry, operand)) is not None:
            words.append(fixed)
        else:
            words.append(range_text(ranges.get(str(operand), {}), entry["arg_types"][operand]))
    return " ".join([*words, "->", kernel_type(entry["clang_ret"])])


def operands(entry: dict[str, Any]) -> str:
    """Return LLVM's operands where they are not just the arguments: places, casts `1:i16`,
    constants."""
    words = []
    result = entry["ret_type"]
    for k, (source, llvm) in enumerate(zip(entry["arg_map"], entry["arg_types"], strict=True)):
        if isinstance(source, dict):
            words.append(source.get("const", source.get("default")))
            continue
        own = kernel_type(entry["clang_args"][source])
        is_constant = k in entry["immarg"]
        plain = {"i1", "i32"} if is_constant else {llvm}
        same = llvm in plain if is_constant else unsigned_as_signed(own) == llvm_type(llvm)
        words.append(str(source) if same else f"{source}:{llvm_type(llvm)}")
    if unsigned_as_signed(kernel_type(entry["clang_ret"])) != (
        llvm_type(result) if result != "void" else "void"
    ):
        return " ".join([*words, f">{llvm_type(result)}"])
    count = sum(isinstance(source, int) for source in entry["arg_map"])
    return "" if words == [str(number) for number in range(count)] else " ".join(words)


def mnemonics(entry: dict[str, Any]) -> str:
    """Return `v_exp_f32`, or what differs by target: `ds_a=gfx90a,gfx942 ds_b=gfx1201`."""
    by_name: dict[str, list[str]] = {}
    for target in entry["targets"]:
        names = entry["isa"].get(target) or []
        by_name.setdefault("+".join(names), []).append(target)
    if len(by_name) == 1:
        return next(iter(by_name))
    return " ".join(f"{name}={','.join(targets)}" for name, targets in by_name.items() if name)


def is_irregular(name: str, entry: dict[str, Any]) -> bool:
    """Whether `irregular_builtins` lowers the builtin: it is no call with the same types."""
    starts = (
        "read_exec",
        "workgroup_size",
        "grid_size",
        "image_bvh_intersect",
        "atomic_inc",
        "atomic_dec",
        "s_setreg",
        "cvt_scalef32_sr_pk_fp4",
    )
    result = entry.get("ret_type") or ""
    one_call = name == "update_dpp"
    return (
        (name in SIGNATURES and not one_call)
        or name.startswith(starts)
        or result.startswith(("{", "ptr addrspace(4)"))
        or "metadata" in entry.get("arg_types", ())
    )


def row(entry: dict[str, Any], ranges: dict[str, Any]) -> list[str]:
    name = entry["builtin"].removeprefix("__builtin_amdgcn_")
    sizes = sorted({size for sizes in entry["target_waves"].values() for size in sizes})
    head = [name, entry["group"], " ".join(entry["targets"]), " ".join(map(str, sizes))]
    if name in DECLARED:
        return [*head, "", "", "", mnemonics(entry)]
    call = entry["llvm_instruction"].split()[1] if "llvm_instruction" in entry else entry["llvm"]
    if is_irregular(name, entry):
        return [*head, signature(entry, ranges), "emit", "", mnemonics(entry)]
    if "llvm_instruction" in entry:
        return [*head, signature(entry, ranges), f"atomicrmw {call}", "", mnemonics(entry)]
    return [*head, signature(entry, ranges), call, operands(entry), mnemonics(entry)]


def main(inventory: Path, constants: Path) -> None:
    """Write the table."""
    entries = [
        entry for entry in json.loads(inventory.read_text()) if entry["status"] == "verified"
    ]
    ranges = {name: found or {} for name, found in json.loads(constants.read_text()).items()}
    rows = [row(entry, ranges.get(entry["builtin"], {})) for entry in entries]
    lines = ["# generated by tests/intrinsics/generate_builtin_table.py", "\t".join(HEAD)]
    OUTPUT.write_text(
        "\n".join([*lines, *("\t".join(cells).rstrip("\t") for cells in sorted(rows))]) + "\n"
    )
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
