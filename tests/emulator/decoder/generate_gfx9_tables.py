"""Write the opcode tables of gfx9 by asking llvm-objdump, as `generate_tables.py` does for others.

Run as `python tests/emulator/decoder/generate_gfx9_tables.py` from the repository's root. The rows
of gfx90a are the table of the family; the others are what differs from it, or from another one
(`LIKE`), None for a row less.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from amdjit.isa.family_formats import (  # noqa: E402
    GFX90A_FORMATS,
    GFX906_FORMATS,
    GFX908_FORMATS,
    GFX942_FORMATS,
    GFX950_FORMATS,
)
from amdjit.isa.formats import Format, Formats  # noqa: E402
from tests.emulator.decoder.generate_tables import row_text  # noqa: E402
from tests.emulator.decoder.gfx9_shapes import (  # noqa: E402
    is_matrix,
    matrix_shapes,
    matrix_type,
    try_accumulators,
    try_broadcasts,
    try_direct_loads,
    try_sdwa,
)
from tests.emulator.decoder.objdump import Line, asking_about, disassemble_each  # noqa: E402
from tests.emulator.decoder.opcode_probes import (  # noqa: E402
    try_constants,
    try_dpp,
    try_literals,
    try_modifiers,
)
from tests.emulator.decoder.opcode_shapes import (  # noqa: E402
    MEMORY,
    VGPR,
    Operand,
    Shape,
    belongs,
    encode,
    find_fills,
    make_shape,
    usable,
)

TARGET = ROOT / "amdjit/isa/gfx9_tables.py"
FORMATS = {
    "gfx90a": GFX90A_FORMATS,
    "gfx908": GFX908_FORMATS,
    "gfx906": GFX906_FORMATS,
    "gfx942": GFX942_FORMATS,
    "gfx950": GFX950_FORMATS,
}
# Whose rows a processor's are compared with, if not gfx90a's.
LIKE = {"gfx906": "gfx908"}
Rows = dict[str, dict[int, str]]


# How the long vector formats are filled until the disassembler takes an opcode: with three vector
# registers, with fewer, with scalars as a lane's number or a destination.
_LONG_FILLS: tuple[dict[str, int], ...] = (
    {"vdst": 16, "src0": VGPR + 32, "src1": VGPR + 64, "src2": VGPR + 96},
    {"vdst": 16, "src0": VGPR + 32, "src1": VGPR + 64, "src2": 20},
    {"vdst": 16, "src0": VGPR + 32, "src1": VGPR + 64},
    {"vdst": 16, "src0": VGPR + 32, "src1": 36},
    {"vdst": 16, "src0": VGPR + 32},
    {"vdst": 16, "src0": 40, "src1": 36},
    {"vdst": 16},
    {},
)
_READ = ("s_cmpk_", "s_cbranch_i_fork", "s_store_", "s_scratch_store_", "s_buffer_store_")


def rows_of(processor: str) -> Rows:
    """Return format -> opcode -> the row's text, for one processor."""
    formats = FORMATS[processor]
    with asking_about(processor):
        return {
            form.name: {shape.code: _row_text(shape) for shape in _shapes(formats, form)}
            for form in formats.listed
            if form.name != "MAIX"
        }


def _row_text(shape: Shape) -> str:
    text = row_text(shape)
    if shape.format.name == "MAI":
        for item in shape.operands:
            kind = matrix_type(shape.mnemonic, item.role, item.dwords)
            text = re.sub(rf"\b{item.role}:\w+:", f"{item.role}:{kind}:", text)
    text = text.replace("exec:mask:2:r:exec", "exec:mask:2:w:exec")
    if shape.mnemonic.startswith(_READ):
        text = re.sub(r"(sdst:\w+:\d+):w:", r"\1:r:", text)
    if shape.format.name == "SMEM" and "_atomic_" in shape.mnemonic:
        text = re.sub(r"(sdst:\w+:\d+):w:", r"\1:rw:", text)
    return text


def _found(formats: Formats, form: Format) -> dict[int, tuple[dict[str, int], Line]]:
    if form.name not in ("VOP3", "VOP3P"):
        return find_fills(formats, form)
    found: dict[int, tuple[dict[str, int], Line]] = {}
    more = {"op_sel_hi": 3, "op_sel_hi_2": 1} if form.name == "VOP3P" else {}
    blank = {field.name: 0 for field in form.fields}
    for chosen in _LONG_FILLS:
        fill = {**blank, **chosen, **more}
        codes = [code for code in range(1 << form.opcode.bits) if code not in found]
        lines = disassemble_each(encode(form, code, fill) for code in codes)
        for code, line in zip(codes, lines, strict=True):
            # Interpolation is of graphics: `InstructionSet.refused` names it.
            covered = belongs(formats, form, code, line) and "v_interp_" not in line.text
            if usable(line) and covered:
                found[code] = (fill, line)
    return found


def _own(shape: Shape) -> Shape:
    """Lane masks are pairs; V_ACCVGPR_MOV names two accumulation VGPRs; V_CMPX writes VCC, too."""
    if shape.mnemonic == "v_accvgpr_mov_b32":
        shape.operands = [Operand("vdst", 1, takes="a"), Operand("src0", 1, takes="a")]
    for operand in shape.operands:
        if operand.is_mask:
            operand.dwords = 2
        if operand.implied == "exec":
            operand.role = "exec"
    return shape


def _shapes(formats: Formats, form: Format) -> list[Shape]:
    if form.name == "MAI":
        return matrix_shapes(form, "acc" in {item.name for item in form.fields})
    found = {
        code: pair
        for code, pair in _found(formats, form).items()
        if not (form.name == "VOP3P" and (is_matrix(pair[1].text) or "ld_scale" in pair[1].text))
    }
    shapes = [make_shape(form, code, *found[code], "") for code in sorted(found)]
    has_literals = form.size == 4
    try_constants(shapes, has_literals)
    try_literals(shapes)
    if form.name in ("VOP3", "VOP3P"):
        try_modifiers(shapes)
    if form.name in ("VOP1", "VOP2", "VOPC"):
        try_dpp(shapes)
        try_sdwa(shapes)
        try_broadcasts(shapes)
    if form.name in MEMORY:
        try_accumulators(shapes)
        try_direct_loads(shapes)
    return list(map(_own, shapes))


def table_text() -> str:
    """Return the text of the module of the tables."""
    rows = {processor: rows_of(processor) for processor in FORMATS}
    lines = [
        '"""generated by `python tests/emulator/decoder/generate_gfx9_tables.py` with LLVM 22; do '
        "not edit.",
        "",
        "format -> opcode number -> (mnemonic, operands, flags); rows.py reads the strings. ROWS "
        "is",
        "gfx90a's table; the others are what another processor has instead, None where it has "
        "nothing:",
        "GFX906_CHANGES instead of gfx908's, the others instead of gfx90a's.",
        '"""',
        "",
        "# ruff: noqa",
        "# fmt: off",
        "",
        "ROWS: dict[str, dict[int, tuple[str, str, str]]] = {",
        *_listed(rows["gfx90a"]),
        "}",
    ]
    for processor in FORMATS:
        if processor == "gfx90a":
            continue
        changed = _changes(rows[LIKE.get(processor, "gfx90a")], rows[processor])
        name = f"{processor.upper()}_CHANGES"
        lines += [
            f"{name}: dict[str, dict[int, tuple[str, str, str] | None]] = {{",
            *_listed(changed),
            "}",
        ]
    return "\n".join(lines) + "\n"


def _listed(rows: Rows) -> list[str]:
    lines = []
    for name, entries in rows.items():
        lines.append(f'    "{name}": {{')
        lines += [f"        0x{code:X}: {text}" for code, text in sorted(entries.items())]
        lines.append("    },")
    return lines


def _changes(base: Rows, other: Rows) -> Rows:
    changed: Rows = {}
    for name, entries in other.items():
        mine = base[name]
        different = {code: text for code, text in entries.items() if mine.get(code) != text}
        different.update(dict.fromkeys(set(mine) - set(entries), "None,"))
        if different:
            changed[name] = different
    return changed


if __name__ == "__main__":
    TARGET.write_text(table_text())
