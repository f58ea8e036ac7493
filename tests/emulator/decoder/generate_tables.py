"""Write the decoder's opcode tables by asking llvm-objdump about every opcode number of every format.

Run as `python tests/emulator/decoder/generate_tables.py` from the repository's root. Every opcode is
disassembled with a register of its own in each field, so that the text tells which fields it has, how wide
they are and which registers they take; then each modifier bit and each kind of constant is tried.
"""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from objdump import Line, disassemble_each  # noqa: E402
from operand_types import operand_type, reads_destination  # noqa: E402

from amdjit.emulator.decoder.formats import FORMATS, Format, format_of  # noqa: E402

TARGET = ROOT / "amdjit/emulator/decoder/opcode_tables.py"
LITERAL_WORD = 0x12345678
VGPR = 256
MEMORY = ("DS", "VFLAT", "VGLOBAL", "VSCRATCH", "VBUFFER", "SMEM")
_SUFFIX = re.compile(r"_(e32|e64|dpp|e64_dpp)$")
_REGISTER = re.compile(r"^([vs])(?:(\d+)|\[(\d+):(\d+)\])$")
# v_cmp and v_cmpx as VOPC write VCC and EXEC; the text has no field for it.
_MASK_OPERAND = re.compile(r"^v_(cmp|cmpx)_|^v_cndmask_|^v_(add|sub|subrev)_co|^v_div_scale|^v_mad_co_|^v_div_fmas")
_DATA_ROLES = ("vdst", "vdata", "data0", "data1", "sdst")
# What each constant looks like in the text; the kind says how the disassembler prints constants there.
_CONSTANT_KINDS = {
    ("-1", "1.0", "0.15915494", "0x12345678"): "32",
    ("-1", "1.0", "0.15915494309189532", "0x12345678"): "64",
    ("-1", "1.0", "0.15915494", "0x5678"): "f16",
    ("-1", "0x3c00", "0x3118", "0x5678"): "i16",
    ("-1", "1.0", "0.15915494", None): "32",
    ("-1", "0x3f80", "0x3e22", None): "b16",
}


@dataclass
class Operand:
    """One operand found in the text: `token` of it, the field it comes from."""

    role: str
    dwords: int
    is_mask: bool = False
    scalar: bool = False
    takes: str = ""
    constants: str = "32"
    implied: str = ""
    hidden: bool = False
    half: bool = False


@dataclass
class Shape:
    """One opcode as found so far."""

    format: Format
    code: int
    fill: dict[str, int]
    mnemonic: str
    suffix: bool
    operands: list[Operand]
    flags: list[str] = field(default_factory=list)


def encode(form: Format, code: int, fields: dict[str, int], tail: int = LITERAL_WORD) -> bytes:
    """Return the bytes of an instruction; a literal, or a DPP word, always follows."""
    bits = form.prefix << (32 - form.prefix_bits) | code << form.opcode.shift
    for item in form.fields:
        bits |= (fields.get(item.name, 0) & ((1 << item.bits) - 1)) << item.shift
    return bits.to_bytes(form.size, "little") + tail.to_bytes(4, "little")


def field_fills(form: Format) -> dict[str, list[int]]:
    """Return the values worth trying for each register field, the most telling first."""
    fills: dict[str, list[int]] = {}
    for index, item in enumerate(form.fields):
        vector, scalar = 16 * (index + 1), 4 * (2 * index + 1)
        fills[item.name] = {
            "v8": [vector, 0],
            "d8": [vector, 0],
            "s9": [VGPR + vector, scalar, 0],
            "s7": [scalar],
            "s8": [scalar],
            "b6": [scalar // 2],
            "r9": [scalar],
            "imm": [0],
        }[item.kind]
    if form.name == "SMEM":
        fills["soffset"] = [124]
    if form.name == "VOP3":
        # The bits are those of abs and op_sel in opcodes without a scalar destination.
        fills["sdst"] = [0]
    if form.name in ("VFLAT", "VGLOBAL", "VSCRATCH"):
        fills["saddr"] = [124]
        fills["sve"] = [1 if form.name == "VSCRATCH" else 0]
        fills["vdst"], fills["vdata"], fills["vaddr"] = [16], [64], [112]
    if form.name == "VOP3P":
        fills["op_sel_hi"], fills["op_sel_hi_2"] = [3, 0], [1, 0]
    return fills


def usable(line: Line) -> bool:
    """True if the oracle accepts the instruction as it stands."""
    return not line.rejected


def belongs(form: Format, code: int, line: Line) -> bool:
    """True if the opcode is one of this format's and of those that the decoder covers."""
    first = int.from_bytes(encode(form, code, {})[:4], "little")
    outside = "bvh_stack" in line.text or line.text.startswith("v_illegal")
    return format_of(first >> 23) is form and not outside


def find_fills(form: Format) -> dict[int, tuple[dict[str, int], Line]]:
    """Return, for every opcode the oracle knows, the most telling accepted fill and its text."""
    fills = field_fills(form)
    names = list(fills)
    ranked = sorted(
        itertools.product(*(range(len(fills[name])) for name in names)),
        key=lambda choice: (choice.count(2), sum(choice)),
    )
    found: dict[int, tuple[dict[str, int], Line]] = {}
    codes = range(1 << form.opcode.bits)
    for choice in ranked:
        fill = {name: fills[name][pick] for name, pick in zip(names, choice, strict=True)}
        open_codes = [code for code in codes if code not in found]
        lines = disassemble_each(encode(form, code, fill) for code in open_codes)
        for code, line in zip(open_codes, lines, strict=True):
            if usable(line):
                found[code] = (fill, line)
    return {code: pair for code, pair in found.items() if belongs(form, code, pair[1])}


def split_text(text: str) -> tuple[str, list[str], str]:
    """Return mnemonic, operand tokens and the rest (modifiers) of an instruction's text."""
    mnemonic, _, rest = text.partition(" ")
    tokens, modifiers = [], ""
    parts = re.split(r", (?![^(\[]*[)\]])", rest) if rest else []
    for part in parts:
        token, _, modifiers = part.partition(" ")
        if ":" in token and "[" not in token.split(":")[0]:
            token, modifiers = "", part
        if token:
            tokens.append(token)
    return mnemonic, tokens, modifiers


def parse_register(token: str) -> tuple[str, int, int] | None:
    """Return (file, first number, count) of a plain register token."""
    match = _REGISTER.match(token)
    if not match:
        return None
    kind, single, first, last = match.groups()
    start = int(single if single is not None else first)
    return kind, start, 1 if single is not None else int(last) - start + 1


def field_of(form: Format, fill: dict[str, int], file: str, number: int) -> str | None:
    """Return the name of the field that holds that register."""
    for item in form.fields:
        value = fill.get(item.name, 0)
        if item.kind == "imm" or value == 124:
            continue
        if item.kind == "b6":
            value *= 2
        vector = item.kind in ("v8", "d8") or value >= VGPR
        if item.kind == "d8" and file == "s":
            vector = False
        if value % VGPR == number and (file == "v") == vector:
            return item.name
    return None


def operands_of(form: Format, fill: dict[str, int], mnemonic: str, tokens: list[str]) -> list[Operand]:
    """Return the operands named in the text, in its order."""
    operands = []
    for position, token in enumerate(tokens):
        register = parse_register(token)
        if token == "vcc_lo":
            role = {0: "vdst", 1: "sdst"}.get(position, "src2")
            operands.append(Operand(role, 1, is_mask=True, implied="vcc"))
        elif token == f"0x{LITERAL_WORD:x}" and form.name in ("SOP2", "VOP2", "SOPK"):
            operands.append(
                Operand("literal", 1, implied="literal", constants="plain" if form.name == "SOPK" else "literal")
            )
        elif token == "off" and form.name in MEMORY:
            operands.append(Operand("vaddr" if form.name == "VBUFFER" else "saddr", 1, implied="off"))
        elif register:
            role_name = field_of(form, fill, register[0], register[1])
            if role_name is None and register == ("s", 0, 1) and form.name == "VOP3":
                role_name = "sdst"
            if role_name is not None:
                operands.append(Operand(role_name, register[2], scalar=register[0] == "s"))
    mark_masks(form, mnemonic, operands)
    return complete_memory(form, mnemonic, operands)


def complete_memory(form: Format, mnemonic: str, operands: list[Operand]) -> list[Operand]:
    """Add the optional operands that the canonical fill leaves out."""
    roles = [operand.role for operand in operands]
    if form.name in ("VFLAT", "VGLOBAL") and "_atomic_" in mnemonic:
        data = operands[roles.index("vdata")].dwords
        returned = data // 2 if "cmpswap" in mnemonic else data
        operands.insert(0, Operand("vdst", returned, implied="returned"))
    for operand in operands:
        if operand.role == "saddr":
            operand.dwords = 1 if form.name == "VSCRATCH" else 2
    if form.name == "SMEM" and ("sbase" in roles or "pc_rel" in mnemonic):
        operands.append(Operand("soffset", 1, implied="null"))
    return operands


def mark_masks(form: Format, mnemonic: str, operands: list[Operand]) -> None:
    """Mark lane masks, and add the masks that the text leaves out."""
    if not _MASK_OPERAND.match(mnemonic) or not form.name.startswith("VOP"):
        return
    carries_in = mnemonic.startswith("v_cndmask") or "_co_ci_" in mnemonic
    for operand in operands:
        compare = mnemonic.startswith("v_cmp") and operand.role == "vdst"
        if compare or operand.role == "sdst" or (carries_in and operand.role == "src2"):
            operand.is_mask, operand.dwords = True, 1
    if mnemonic.startswith("v_cmpx_"):
        operands.insert(0, Operand("vdst", 1, is_mask=True, implied="exec", hidden=True))
    if mnemonic.startswith("v_div_fmas"):
        operands.append(Operand("vcc", 1, is_mask=True, implied="vcc", hidden=True))


def make_shape(form: Format, code: int, fill: dict[str, int], line: Line) -> Shape:
    """Read one accepted line."""
    name, tokens, _ = split_text(line.text)
    mnemonic = _SUFFIX.sub("", name)
    operands = operands_of(form, fill, mnemonic, tokens)
    return Shape(form, code, fill, mnemonic, mnemonic != name, operands)


def try_constants(shapes: list[Shape]) -> None:
    """Find which kinds of operands each source takes, and how constants are printed there."""
    probes = []
    for shape in shapes:
        for operand in shape.operands:
            kind = "" if operand.implied else shape.format.field(operand.role).kind
            if kind in ("s8", "s9"):
                for code in (VGPR + 100, 40, 193, 242, 248, 255):
                    value = code if kind == "s9" or code < VGPR else 40
                    probes.append((shape, operand, code, {**shape.fill, operand.role: value}))
    lines = disassemble_each(encode(shape.format, shape.code, fill) for shape, _, _, fill in probes)
    answers: dict[tuple[int, str], dict[int, Line]] = {}
    for (shape, operand, code, _), line in zip(probes, lines, strict=True):
        answers.setdefault((id(shape), operand.role), {})[code] = line
    for shape in shapes:
        for operand in shape.operands:
            answer = answers.get((id(shape), operand.role))
            if answer and not operand.implied:
                read_constants(shape, operand, answer)


def read_constants(shape: Shape, operand: Operand, answer: dict[int, Line]) -> None:
    """Fill `takes` and `constants` of an operand from the six answers."""
    position = [item.role for item in shape.operands if not item.hidden].index(operand.role)

    def token(code: int) -> str | None:
        line = answer[code]
        tokens = split_text(line.text)[1]
        return tokens[position] if usable(line) and position < len(tokens) else None

    vector = shape.format.field(operand.role).kind == "s9" and not operand.is_mask
    operand.takes += "v" if vector and token(VGPR + 100) else ""
    operand.takes += "s" if token(40) else ""
    operand.takes += "i" if token(193) else ""
    operand.takes += "l" if token(255) else ""
    if token(193):
        seen = (token(193), token(242), token(248), token(255))
        if seen not in _CONSTANT_KINDS:
            print("constants", shape.mnemonic, operand.role, seen)
        operand.constants = _CONSTANT_KINDS.get(seen, "32")


LITERAL_TAILS = (0x3C00, 0x3F80, 0x12340000, 0x40000000, 0x3C003C00)


def try_literals(shapes: list[Shape]) -> None:
    """Refine `constants`: which literals are written as lit(...) tells the type of the operand."""
    takers = [(shape, item) for shape in shapes for item in shape.operands if "l" in item.takes]
    probes = [
        encode(shape.format, shape.code, {**shape.fill, item.role: 255}, tail)
        for shape, item in takers
        for tail in LITERAL_TAILS
    ]
    lines = disassemble_each(probes)
    count = len(LITERAL_TAILS)
    for index, (_, item) in enumerate(takers):
        texts = (line.text for line in lines[count * index : count * (index + 1)])
        half, brain, mixed, double, splat = texts
        if item.constants == "64" and "2.0" in double:
            item.constants = "f64"
        elif item.constants == "32" and "lit(" in half:
            item.constants = "v2f16"
        elif item.constants == "32" and "lit(" in brain:
            item.constants = "bf16" if "lit(" in mixed else "v2bf16"
        elif item.constants == "32" and "lit(" in splat:
            item.constants = "splat"


MODIFIER_FIELDS = ("abs", "neg_hi", "op_sel", "op_sel_hi_2", "op_sel_hi", "clamp", "omod", "neg")


def has_sdst(shape: Shape) -> bool:
    """True for VOP3SD, whose scalar destination lies where others have abs and op_sel."""
    return shape.format.name == "VOP3" and any(operand.role == "sdst" for operand in shape.operands)


def try_modifiers(shapes: list[Shape]) -> None:
    """Find which modifier bits of VOP3, VOP3P and VINTERP each opcode has."""
    probes = []
    for shape in shapes:
        probes.append((shape, "", 0, shape.fill))
        for item in shape.format.fields:
            if item.name not in MODIFIER_FIELDS or (has_sdst(shape) and item.name in ("abs", "op_sel")):
                continue
            for bit in range(item.bits):
                fill = {**shape.fill, item.name: shape.fill[item.name] ^ (1 << bit)}
                probes.append((shape, item.name, bit, fill))
    lines = disassemble_each(encode(shape.format, shape.code, fill) for shape, _, _, fill in probes)
    base: dict[int, str] = {}
    effects: dict[int, list[tuple[str, int, Line]]] = {}
    for (shape, name, bit, _), line in zip(probes, lines, strict=True):
        if not name:
            base[id(shape)] = line.text
        else:
            effects.setdefault(id(shape), []).append((name, bit, line))
    for shape in shapes:
        shape.flags += modifier_flags(shape, base[id(shape)], effects.get(id(shape), []))


def modifier_flags(shape: Shape, base: str, effects: list[tuple[str, int, Line]]) -> list[str]:
    """Return flags name=mask for supported bits, !name=mask for bits that may not be changed."""
    works: dict[str, int] = {}
    fixed: dict[str, int] = {}
    places: dict[int, int] = {}
    entries = 0
    for name, bit, line in effects:
        if not usable(line):
            fixed[name] = fixed.get(name, 0) | 1 << bit
        elif line.text != base:
            works[name] = works.get(name, 0) | 1 << bit
            match = re.search(r"op_sel:\[([\d,]+)\]", line.text)
            if name == "op_sel" and match:
                states = match.group(1).split(",")
                entries = len(states)
                places.update({states.index("1"): bit})
    if shape.format.name == "VOP3P":
        negated = [line.text for name, _, line in effects if name == "neg" and usable(line)]
        mix = works.get("neg", 0) != 0 and not any("neg_lo" in text for text in negated)
    else:
        mix = False
    flags = [f"{name}={mask:x}" for name, mask in works.items()]
    flags += [f"!{name}={mask:x}" for name, mask in fixed.items()]
    if any("byte_sel" in line.text for _, _, line in effects):
        flags.append("byte_sel")
    if entries:
        flags.append("sel=" + "".join(str(places.get(place, "x")) for place in range(entries)))
    return flags + ["mix"] * mix


def try_dpp(shapes: list[Shape]) -> None:
    """Find which opcodes take DPP16 and DPP8, and which source modifiers the DPP16 word has for them."""
    words = {250: 0xFF00_0105, 233: 0xFAC68805}
    bits = {"dneg0": 20, "dabs0": 21, "dneg1": 22, "dabs1": 23}
    probes = []
    for shape in shapes:
        for source, word in words.items():
            probes.append((shape, str(source), {**shape.fill, "src0": source}, word))
        if shape.format.size == 4:
            for name, bit in bits.items():
                probes.append((shape, name, {**shape.fill, "src0": 250}, words[250] | 1 << bit))
    lines = disassemble_each(encode(shape.format, shape.code, fill, word) for shape, _, fill, word in probes)
    base = ""
    for (shape, name, _, _), line in zip(probes, lines, strict=True):
        accepted = usable(line) and ("row_mask" in line.text or "dpp8" in line.text)
        if name == "250":
            base = line.text
            shape.flags += ["dpp16"] * accepted
        elif name == "233":
            shape.flags += ["dpp8"] * accepted
        elif accepted and line.text != base:
            shape.flags.append(name)
        elif not accepted and "dpp16" in shape.flags:
            shape.flags.append("no_" + name)


def try_halves(shapes: list[Shape]) -> None:
    """Find the operands that may name either half of a VGPR: they have .l with real 16-bit registers."""
    codes = [encode(shape.format, shape.code, shape.fill) for shape in shapes]
    for shape, line in zip(shapes, disassemble_each(codes, "+real-true16"), strict=True):
        _, tokens, _ = split_text(line.text)
        shown = [operand for operand in shape.operands if not operand.hidden]
        if len(tokens) != len(shown):
            continue
        for operand, token in zip(shown, tokens, strict=True):
            operand.half = token.endswith((".l", ".h"))


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
        read = shape.mnemonic.startswith("s_setreg")
        second = operand.role == "sdst" and shape.format.name == "VOP3"
        return "r" if read else "rw" if both and not second else "w"
    if operand.role == "vdata" and shape.format.name == "VBUFFER":
        return "rw" if "atomic" in shape.mnemonic or both else "w" if "load" in shape.mnemonic else "r"
    return "rw" if "swap" in shape.mnemonic and shape.format.name == "VOP1" else "r"


def row_text(shape: Shape) -> str:
    """Return the table row of an opcode."""
    operands = []
    for item in shape.operands:
        extras = item.implied or item.takes or ("s" if item.scalar else "v")
        marks = "h" * item.half + "-" * item.hidden
        operands.append(
            f"{item.role}:{typed(shape, item)}:{item.dwords}:{access(shape, item)}:{extras}:{item.constants}:{marks}"
        )
    flags = ["e"] * shape.suffix + shape.flags
    return f"({shape.mnemonic!r}, {' '.join(operands)!r}, {' '.join(flags)!r}),"


def shapes_of(form: Format) -> list[Shape]:
    """Return every opcode of a format."""
    found = find_fills(form)
    shapes = [make_shape(form, code, *found[code]) for code in sorted(found)]
    try_constants(shapes)
    try_literals(shapes)
    if form.name in ("VOP3", "VOP3P", "VINTERP"):
        try_modifiers(shapes)
    if form.name in ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P"):
        try_dpp(shapes)
    if form.name in ("VOP1", "VOP2", "VOPC", "VOP3", "VINTERP"):
        try_halves(shapes)
    return shapes


def dual_rows(form: Format) -> list[str]:
    """Return the rows of the X and the Y half of VOPD: the other half is always v_dual_mul_f32 (3)."""
    lines = []
    for half, bits in (("x", 4), ("y", 5)):
        lines.append(f'    "VOPD{half.upper()}": {{')
        fill = {"src0x": VGPR + 32, "src1x": 48, "src0y": VGPR + 65, "src1y": 81, "vdsty": 48, "vdstx": 17}
        codes = range(1 << bits)
        pairs = [(code, 3) if half == "x" else (3, code) for code in codes]
        found = disassemble_each(encode(form, x, {**fill, "opy": y}) for x, y in pairs)
        fill[f"src1{half}"] = 0
        moves = disassemble_each(encode(form, x, {**fill, "opy": y}) for x, y in pairs)
        for code, first, second in zip(codes, found, moves, strict=True):
            line = first if usable(first) else second
            if usable(line):
                text = line.text.split(" :: ")[half == "y"]
                lines.append(f"        0x{code:X}: {dual_row(form, code, text)}")
        lines.append("    },")
    return lines


def dual_row(form: Format, code: int, text: str) -> str:
    """Return the row of one half, from its text."""
    roles = {17: "vdst", 96: "vdst", 32: "src0", 65: "src0", 48: "src1", 81: "src1"}
    mnemonic, tokens, _ = split_text(text)
    operands = []
    for token in tokens:
        register = parse_register(token)
        if register is None:
            operands.append(
                Operand("literal", 1, implied="literal", constants="plain" if form.name == "SOPK" else "literal")
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
        row = row.replace("vdst:f32:1:w", "vdst:f32:1:rw")
        row = re.sub(r"(src[01]):(b?f16)", r"\1:v2\2", row)
    return row


def table_text() -> str:
    """Return the text of the module."""
    lines = [
        '"""generated by `python tests/emulator/decoder/generate_tables.py` with LLVM 22; do not edit.',
        "",
        "format -> opcode number -> (mnemonic, operands, flags); rows.py reads the strings.",
        '"""',
        "",
        "# ruff: noqa",
        "# fmt: off",
        "",
        "ROWS: dict[str, dict[int, tuple[str, str, str]]] = {",
    ]
    for form in FORMATS:
        if form.name == "VOPD":
            lines += dual_rows(form)
            continue
        lines.append(f'    "{form.name}": {{')
        lines += [f"        0x{shape.code:X}: {row_text(shape)}" for shape in shapes_of(form)]
        lines.append("    },")
    lines.append("}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(table_text())
