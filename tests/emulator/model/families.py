"""Which processor family the cases are made for, and how its assembler writes what they have in
common.

Cases are written as gfx12's assembler wants them. What gfx11 has under another name, or builds of
other instructions, is translated line by line; what it does otherwise is in `gfx11.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from amdjit.isa.instruction_set import InstructionSet, instruction_set_of
from amdjit.isa.rows import Row, opcodes, row_of
from tests import complement_model
from tests.emulator.building import assemble, processor
from tests.emulator.model.gfx9_names import GROUP, as_gfx9, gfx9_name
from tests.emulator.silicon_model import dot_step

# Names that only the spelling tells apart (RDNA 3 ISA and RDNA 4 ISA, chapter 16).
RENAMED = {
    "s_add_co_u32": "s_add_u32",
    "s_sub_co_u32": "s_sub_u32",
    "s_add_co_i32": "s_add_i32",
    "s_sub_co_i32": "s_sub_i32",
    "s_add_co_ci_u32": "s_addc_u32",
    "s_sub_co_ci_u32": "s_subb_u32",
    "s_addk_co_i32": "s_addk_i32",
    "v_mad_co_u64_u32": "v_mad_u64_u32",
    "v_mad_co_i64_i32": "v_mad_i64_i32",
}
_WAITS = {
    "s_wait_loadcnt 0x0": "s_waitcnt vmcnt(0)",
    "s_wait_kmcnt 0x0": "s_waitcnt lgkmcnt(0)",
    "s_wait_dscnt 0x0": "s_waitcnt lgkmcnt(0)",
}
# Workgroups find their number in s2 at first, where it does not stay.
_GROUP = "s99"
_ADDRESSED = re.compile(
    r"^(\s*)(global_store_\w+) (v\d+), (v\d+|v\[\d+:\d+\]), (s\[\d+:\d+\]) offset:(\d+)$"
)
# The largest offset in an instruction; a larger one is added in a register that no case has.
_FARTHEST, _FREE = 4095, "v253"


def is_gfx11() -> bool:
    """Return whether tests run for gfx11."""
    return instruction_set().name in ("gfx11", "gfx11.5")


def is_gfx9() -> bool:
    """Return whether tests run for gfx9, whose waves have 64 lanes."""
    return instruction_set().name in ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")


def instruction_set() -> InstructionSet:
    """Return that of the processor that tests run for."""
    found = instruction_set_of(processor())
    assert found is not None
    return found


@cache
def _mnemonics(family: InstructionSet) -> frozenset[str]:
    return frozenset(opcode.mnemonic for opcode in opcodes(family))


def has(text: str) -> bool:
    """Return whether the family has all instructions of a text."""
    words = [line.split()[0] for line in text.splitlines() if line.split()]
    known = _mnemonics(instruction_set())
    plain = [own_name(re.sub(r"(_e32|_e64)?(_dpp|_sdwa)?$", "", word)) for word in words]
    return all(name in known for name in plain)


def own_name(name: str) -> str:
    """Return the family's name of an instruction that the model knows by gfx12's."""
    if is_gfx9():
        return gfx9_name(name)
    return RENAMED.get(name, name) if is_gfx11() else name


def family_step(
    x: Sequence[int], y: Sequence[int], addend: int, kinds: tuple[str, str], result: str
) -> int:
    """Return an addend and a few products as the family rounds them; kinds: of both factors."""
    if not is_gfx11():
        return dot_step(x, y, addend, kinds, result)
    return complement_model.step(x, y, addend, kinds[0], result)


def rows_by_mnemonic(encodings: tuple[str, ...]) -> dict[str, list[Row]]:
    """Return the family's rows of some encodings."""
    return _rows(instruction_set(), encodings)


@cache
def _rows(family: InstructionSet, encodings: tuple[str, ...]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for form in encodings:
        for code in family.rows[form]:
            row = row_of(form, code, instruction_set=family)
            assert row is not None
            found.setdefault(row.opcode.mnemonic, []).append(row)
    return found


def assembled(text: str, lds: int = 0, private: int = 0, **options: object) -> bytes:
    """Assemble a kernel of a text in gfx12's names for the family."""
    if is_gfx9():
        return _assembled_for_gfx9(text, lds, private, **options)
    if is_gfx11():
        text = "\n".join([f"  s_mov_b32 {_GROUP}, s2", *map(_as_gfx11, text.splitlines()), ""])
    return assemble(text, lds, private, cpu=processor(), **options)  # type: ignore[arg-type]


def _assembled_for_gfx9(text: str, lds: int, private: int, **options: object) -> bytes:
    """With flat scratch where LLVM's prologue puts it, if the processor leaves that to kernels
    (LLVM AMDGPU guide, "Flat Scratch")."""
    given = {
        name: value for name, value in options.items() if name not in ("attributes", "wave_size")
    }
    name, cpu = instruction_set().name, processor()
    head, directives = [f"  s_mov_b32 {GROUP}, s2"], ""
    if name in ("gfx906", "gfx908", "gfx90a") and private:
        head = [
            f"  s_mov_b32 {GROUP}, s4",
            "  s_add_u32 flat_scratch_lo, s2, s5",
            "  s_addc_u32 flat_scratch_hi, s3, 0",
        ]
        directives = "  .amdhsa_user_sgpr_flat_scratch_init 1"
        directives += "\n  .amdhsa_system_sgpr_private_segment_wavefront_offset 1"
    returning = "sc0" if name in ("gfx942", "gfx950") else "glc"
    lines = [*head, *(as_gfx9(line, returning) for line in text.splitlines()), ""]
    return assemble(
        "\n".join(lines),
        lds,
        private,
        cpu=cpu,
        directives=directives,
        **given,  # type: ignore[arg-type]
    )


def _as_gfx11(line: str) -> str:
    indent, word = line[: len(line) - len(line.lstrip())], line.strip()
    if word in _WAITS:
        return indent + _WAITS[word]
    name, _, rest = word.partition(" ")
    if name in RENAMED:
        return f"{indent}{RENAMED[name]} {rest}".replace("ttmp9", _GROUP)
    far = _ADDRESSED.match(line)
    if far and int(far[6]) > _FARTHEST:
        _, store, address, data, base, offset = far.groups()
        moved = f"{indent}v_add_nc_u32 {_FREE}, {offset}, {address}"
        return f"{moved}\n{indent}{store} {_FREE}, {data}, {base}"
    return line.replace("ttmp9", _GROUP).replace("th:TH_ATOMIC_RETURN", "glc")
