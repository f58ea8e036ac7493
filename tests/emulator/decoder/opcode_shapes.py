"""What an opcode looks like, read from llvm-objdump's text with a register of its own in each
field."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from amdjit.isa.formats import Format, Formats, format_of
from tests.emulator.decoder.objdump import Line, disassemble_each

LITERAL_WORD = 0x12345678
# Some opcodes have no text but the one that names halves of registers.
HALVES = "+real-true16"
VGPR = 256
MEMORY = ("DS", "VFLAT", "VGLOBAL", "VSCRATCH", "VBUFFER", "VTBUFFER", "SMEM")
BUFFERS = ("VBUFFER", "VTBUFFER")
_SUFFIX = re.compile(r"_(e32|e64|dpp|e64_dpp)$")
_REGISTER = re.compile(r"^([vs])(?:(\d+)(?:\.[lh])?|\[(\d+):(\d+)\])$")
# v_cmp and v_cmpx as VOPC write VCC and EXEC; the text has no field for it.
_MASK_OPERAND = re.compile(
    r"^v_(cmp|cmpx)_|^v_cndmask_|^v_(addc?|subb?|subb?rev)_co|^v_div_scale|^v_mad_(co_)?[iu]64_|^v_div_fmas"
)


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
    features: str = ""


def encode(form: Format, code: int, fields: dict[str, int], tail: int = LITERAL_WORD) -> bytes:
    """Return the bytes of an instruction; a literal, or a DPP word, always follows."""
    bits = form.leading_bits | code << form.opcode.shift
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
            "q5": [scalar // 4],
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
    if form.segment_shift == 14:
        fills["saddr"] = [127]
    if "soffset_en" in fills:
        fills["soffset"], fills["imm"] = [0], [1, 0]
        fills["sbase"].append(0)
        fills["sdst"].append(0)
    if form.name == "VOP3P":
        fills["op_sel_hi"], fills["op_sel_hi_2"] = [3, 0], [1, 0]
    return fills


def usable(line: Line) -> bool:
    """True if the oracle accepts the instruction as it stands."""
    return not line.rejected


def belongs(formats: Formats, form: Format, code: int, line: Line) -> bool:
    """True if the opcode is one of this format's and of those that the decoder covers."""
    first = int.from_bytes(encode(form, code, {})[:4], "little")
    outside = "bvh_stack" in line.text or line.text.startswith("v_illegal")
    segment = (first >> formats.segment_shift) & 3
    return format_of(formats, first >> 23, segment) is form and not outside


def find_fills(
    formats: Formats, form: Format, features: str = ""
) -> dict[int, tuple[dict[str, int], Line]]:
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
        lines = disassemble_each((encode(form, code, fill) for code in open_codes), features)
        for code, line in zip(open_codes, lines, strict=True):
            if usable(line):
                found[code] = (fill, line)
    return {code: pair for code, pair in found.items() if belongs(formats, form, code, pair[1])}


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
        if item.kind in ("b6", "q5"):
            value *= 2 if item.kind == "b6" else 4
        vector = item.kind in ("v8", "d8") or value >= VGPR
        if item.kind == "d8" and file == "s":
            vector = False
        if value % VGPR == number and (file == "v") == vector:
            return item.name
    return None


def operands_of(
    form: Format, fill: dict[str, int], mnemonic: str, tokens: list[str]
) -> list[Operand]:
    """Return the operands named in the text, in its order."""
    operands = []
    for position, token in enumerate(tokens):
        register = parse_register(token)
        if token in ("vcc_lo", "vcc"):
            role = {0: "vdst", 1: "sdst"}.get(position, "src2")
            wide = 1 + (token == "vcc")
            operands.append(Operand(role, wide, is_mask=True, implied="vcc"))
        elif token == f"0x{LITERAL_WORD:x}" and form.name in ("SOP2", "VOP2", "SOPK"):
            operands.append(
                Operand(
                    "literal",
                    1,
                    implied="literal",
                    constants="plain" if form.name == "SOPK" else "literal",
                )
            )
        elif token == "off" and form.name in MEMORY:
            operands.append(Operand("vaddr" if form.name in BUFFERS else "saddr", 1, implied="off"))
        elif register:
            role_name = field_of(form, fill, register[0], register[1])
            if role_name is None and register[:2] == ("s", 0) and form.name == "VOP3":
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
    carries_in = re.match(r"v_cndmask|\w+_co_ci_|v_(addc|subb|subbrev)_co_", mnemonic)
    for operand in operands:
        compare = mnemonic.startswith("v_cmp") and operand.role == "vdst"
        if compare or operand.role == "sdst" or (carries_in and operand.role == "src2"):
            operand.is_mask, operand.dwords = True, 1
    if mnemonic.startswith("v_cmpx_"):
        operands.insert(0, Operand("vdst", 1, is_mask=True, implied="exec", hidden=True))
    if mnemonic.startswith("v_div_fmas"):
        operands.append(Operand("vcc", 1, is_mask=True, implied="vcc", hidden=True))


def make_shape(form: Format, code: int, fill: dict[str, int], line: Line, features: str) -> Shape:
    """Read one accepted line."""
    name, tokens, _ = split_text(line.text)
    mnemonic = _SUFFIX.sub("", name)
    operands = operands_of(form, fill, mnemonic, tokens)
    return Shape(form, code, fill, mnemonic, mnemonic != name, operands, features=features)
