"""Write the decoder's opcode tables by asking llvm-objdump about every opcode number of every
format.

Run as `python tests/emulator/decoder/generate_tables.py` from the repository's root. Every opcode
is disassembled with a register of its own in each field, so that the text tells which fields it
has, how wide they are and which registers they take; then each modifier bit and each kind of
constant is tried.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from amdjit.isa.formats import Format  # noqa: E402
from amdjit.isa.instruction_set import (  # noqa: E402
    GFX11,
    GFX12,
    GFX115,
    InstructionSet,
)
from tests.emulator.decoder.objdump import Line, asking_about, disassemble_each  # noqa: E402
from tests.emulator.decoder.opcode_probes import (  # noqa: E402
    try_constants,
    try_dpp,
    try_halves,
    try_literals,
    try_modifiers,
    try_unused_selects,
)
from tests.emulator.decoder.opcode_shapes import (  # noqa: E402
    BUFFERS,
    HALVES,
    MEMORY,
    VGPR,
    Operand,
    Shape,
    encode,
    find_fills,
    make_shape,
    parse_register,
    split_text,
    usable,
)
from tests.emulator.decoder.operand_types import operand_type, reads_destination  # noqa: E402

_DECODER = ROOT / "amdjit/isa"
TARGETS = {
    GFX12: _DECODER / "opcode_tables.py",
    GFX11: _DECODER / "gfx11_tables.py",
    GFX115: _DECODER / "gfx115_tables.py",
}
# Families whose tables hold only what they have beyond another one.
OLDER = {GFX115: GFX11}
_DATA_ROLES = ("vdst", "vdata", "data0", "data1", "sdst")

# A move can change its operand's sign (ISA document, V_MOV_B16), but no text says so: the
# disassembler drops the bits.
_UNWRITTEN = {
    ("VOP3", "v_mov_b16"): ["!abs=1", "!neg=1"],
    ("VOP1", "v_mov_b16"): ["no_dneg0", "no_dabs0"],
}


def typed(shape: Shape, operand: Operand) -> str:
    """Return the type of an operand of that opcode."""
    if operand.implied == "literal":
        return operand_type(shape.mnemonic, "src2", 1, False)
    if shape.format.name in MEMORY:
        arithmetic = re.match(r"(ds|buffer_atomic|global_atomic|flat_atomic)_", shape.mnemonic)
        moves = re.search(r"_(load|store|cmp|permute|bpermute|swizzle)", shape.mnemonic)
        if operand.role not in _DATA_ROLES or moves or not arithmetic:
            return f"b{32 * operand.dwords}"
    name = operand_type(shape.mnemonic, operand.role, operand.dwords, operand.is_mask)
    return name.replace("32", "16") if operand.half and name[0] != "v" else name


def access(shape: Shape, operand: Operand) -> str:
    """Return r, w or rw."""
    both = reads_destination(shape.mnemonic)
    if operand.role in ("vdst", "sdst"):
        # SOPK names its only register sdst, whatever happens to it.
        read = shape.mnemonic.startswith(("s_setreg", "s_cmpk_", "s_waitcnt_"))
        both |= shape.mnemonic.startswith("s_subvector_loop_")
        second = operand.role == "sdst" and shape.format.name == "VOP3"
        return "r" if read else "rw" if both and not second else "w"
    if operand.role == "vdata" and shape.format.name in BUFFERS:
        return (
            "rw" if "atomic" in shape.mnemonic or both else "w" if "load" in shape.mnemonic else "r"
        )
    swaps = "swap" in shape.mnemonic and shape.format.name in ("VOP1", "VOP3")
    return "rw" if swaps and operand.role == "src0" else "r"


def row_text(shape: Shape) -> str:
    """Return the table row of an opcode."""
    operands = []
    for item in shape.operands:
        extras = item.implied or item.takes or ("s" if item.scalar else "v")
        marks = "h" * item.half + "-" * item.hidden
        operands.append(
            f"{item.role}:{typed(shape, item)}:{item.dwords}:{access(shape, item)}:{extras}:"
            f"{item.constants}:{marks}"
        )
    flags = ["e"] * shape.suffix + shape.flags
    return f"({shape.mnemonic!r}, {' '.join(operands)!r}, {' '.join(flags)!r}),"


def shapes_of(sets: InstructionSet, form: Format) -> list[Shape]:
    """Return every opcode of a format: those of the default syntax, then those that only name
    halves."""
    usual = find_fills(sets.formats, form)
    found = find_fills(sets.formats, form, HALVES)
    halves = {code: pair for code, pair in found.items() if code not in usual}
    shapes = [*probed(form, usual, ""), *probed(form, halves, HALVES)]
    return sorted(shapes, key=lambda shape: shape.code)


def probed(
    form: Format, found: dict[int, tuple[dict[str, int], Line]], features: str
) -> list[Shape]:
    """Return the shapes of the opcodes found with those features, with all that can be tried on
    them."""
    shapes = [make_shape(form, code, *found[code], features) for code in sorted(found)]
    try_constants(shapes)
    try_literals(shapes)
    if form.name in ("VOP3", "VOP3P", "VINTERP"):
        try_modifiers(shapes)
    if form.name in ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P"):
        try_dpp(shapes)
    if form.name in ("VOP1", "VOP2", "VOPC", "VOP3", "VINTERP"):
        try_halves(shapes)
    if form.name == "VOP3":
        try_unused_selects(shapes)
    for shape in shapes:
        shape.flags += ["halves"] * bool(features) + _UNWRITTEN.get((form.name, shape.mnemonic), [])
    return shapes


def dual_rows(form: Format) -> dict[str, dict[int, str]]:
    """Return the rows of the X and the Y half of VOPD: the other half is always v_dual_mul_f32
    (3)."""
    rows: dict[str, dict[int, str]] = {}
    for half, bits in (("x", 4), ("y", 5)):
        own = rows[f"VOPD{half.upper()}"] = {}
        fill = {
            "src0x": VGPR + 32,
            "src1x": 48,
            "src0y": VGPR + 65,
            "src1y": 81,
            "vdsty": 48,
            "vdstx": 17,
        }
        codes = range(1 << bits)
        pairs = [(code, 3) if half == "x" else (3, code) for code in codes]
        found = disassemble_each(encode(form, x, {**fill, "opy": y}) for x, y in pairs)
        fill[f"src1{half}"] = 0
        moves = disassemble_each(encode(form, x, {**fill, "opy": y}) for x, y in pairs)
        for code, first, second in zip(codes, found, moves, strict=True):
            line = first if usable(first) else second
            if usable(line):
                text = line.text.split(" :: ")[half == "y"]
                own[code] = dual_row(form, code, text)
    return rows


def dual_row(form: Format, code: int, text: str) -> str:
    """Return the row of one half, from its text."""
    roles = {17: "vdst", 96: "vdst", 32: "src0", 65: "src0", 48: "src1", 81: "src1"}
    mnemonic, tokens, _ = split_text(text)
    operands = []
    for token in tokens:
        register = parse_register(token)
        if register is None:
            operands.append(
                Operand(
                    "literal",
                    1,
                    implied="literal",
                    constants="plain" if form.name == "SOPK" else "literal",
                )
            )
        else:
            role = roles[register[1]]
            operands.append(Operand(role, 1, takes="vsil" if role == "src0" else "v"))
    if "cndmask" in mnemonic:
        operands.append(Operand("src2", 1, is_mask=True, implied="vcc", hidden=True))
    accumulator = "acc" in mnemonic
    shape = Shape(form, code, {}, mnemonic.replace("dot2acc", "dot2"), False, operands)
    row = row_text(shape).replace("v_dual_dot2_", "v_dual_dot2acc_")
    if accumulator:
        row = row.replace(":vsil:32:", ":vsil:v2bf16:" if "bf16" in mnemonic else ":vsil:v2f16:")
        row = row.replace("vdst:f32:1:w", "vdst:f32:1:rw")
        row = re.sub(r"(src[01]):(b?f16)", r"\1:v2\2", row)
    return row


def table_text(sets: InstructionSet) -> str:
    """Return the text of a family's module."""
    with asking_about(sets.processor):
        return _table_text(sets)


def _table_text(sets: InstructionSet) -> str:
    rows: dict[str, dict[int, str]] = {}
    for form in sets.formats.listed:
        if form.name == "VOPD":
            rows.update(dual_rows(form))
        else:
            rows[form.name] = {shape.code: row_text(shape) for shape in shapes_of(sets, form)}
    older = OLDER.get(sets)
    if older is not None:
        rows = beyond(rows, older)
    lines = [
        '"""generated by `python tests/emulator/decoder/generate_tables.py` with LLVM 22; do not '
        "edit.",
        "",
        "format -> opcode number -> (mnemonic, operands, flags); rows.py reads the strings."
        + (f"\nThose of {older.name} are not repeated." if older else ""),
        '"""',
        "",
        "# ruff: noqa",
        "# fmt: off",
        "",
        "ROWS: dict[str, dict[int, tuple[str, str, str]]] = {",
    ]
    for name, own in rows.items():
        lines.append(f'    "{name}": {{')
        lines += [f"        0x{code:X}: {text}" for code, text in own.items()]
        lines.append("    },")
    lines.append("}")
    return "\n".join(lines) + "\n"


def beyond(rows: dict[str, dict[int, str]], older: InstructionSet) -> dict[str, dict[int, str]]:
    """Return the rows that another family has not, or has otherwise; it has none that are lacking
    here."""
    found = {}
    for name, own in rows.items():
        before = {code: f"{row!r}," for code, row in older.rows[name].items()}
        assert before.keys() <= own.keys()
        new = {code: text for code, text in own.items() if before.get(code) != text}
        if new:
            found[name] = new
    return found


if __name__ == "__main__":
    for each, path in TARGETS.items():
        if len(sys.argv) > 1 and each.name not in sys.argv[1:]:
            continue
        path.write_text(table_text(each))
