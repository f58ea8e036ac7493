"""What an opcode accepts: kinds of operands, modifier bits, DPP, halves; found by trying each with
objdump."""

from __future__ import annotations

import re

from amdjit.isa.operand_codes import NULL
from tests.emulator.decoder.assembler import assemble_each
from tests.emulator.decoder.objdump import Line, disassemble_each
from tests.emulator.decoder.opcode_shapes import (
    HALVES,
    MEMORY,
    VGPR,
    Operand,
    Shape,
    encode,
    split_text,
    usable,
)

# What each constant looks like in the text; the kind says how the disassembler prints constants
# there.
_CONSTANT_KINDS = {
    ("-1", "1.0", "0.15915494", "0x12345678"): "32",
    ("-1", "1.0", "0.15915494309189532", "0x12345678"): "64",
    ("-1", "1.0", "0.15915494", "0x5678"): "f16",
    ("-1", "0x3c00", "0x3118", "0x5678"): "i16",
    ("-1", "1.0", "0.15915494", None): "32",
    ("-1", "0x3f80", "0x3e22", None): "b16",
    ("-1", "1.0", "0.15915494309189532", None): "64",
    ("-1", "0x3c00", "0x3118", None): "i16",
}


def features_of(shapes: list[Shape]) -> str:
    """Return the assembler's features with which those opcodes were found: the same for all of
    them."""
    return shapes[0].features if shapes else ""


def try_constants(shapes: list[Shape], literals: bool = True) -> None:
    """Find which kinds of operands each source takes, and how constants are printed there.

    literals: try a literal, too, which crashes the disassembler where an encoding has none.
    """
    probes = []
    codes = [VGPR + 100, 40, 193, 242, 248, NULL] + [255] * literals
    for shape in shapes:
        for operand in shape.operands:
            kind = "" if operand.implied else shape.format.field(operand.role).kind
            if kind in ("s8", "s9"):
                for code in codes:
                    value = code if kind == "s9" or code < VGPR else 40
                    probes.append((shape, operand, code, {**shape.fill, operand.role: value}))
    lines = disassemble_each(
        (encode(shape.format, shape.code, fill) for shape, _, _, fill in probes),
        features_of(shapes),
    )
    answers: dict[tuple[int, str], dict[int, Line]] = {}
    for (shape, operand, code, _), line in zip(probes, lines, strict=True):
        answers.setdefault((id(shape), operand.role), {})[code] = line
    for shape in shapes:
        for operand in shape.operands:
            answer = answers.get((id(shape), operand.role))
            if answer and not operand.implied:
                read_constants(shape, operand, answer)


def _assembled(shape: Shape, line: Line) -> bool:
    """Return whether the assembler takes a register of another class than the operand's."""
    return (
        line.of_other_class is not None
        and assemble_each([line.of_other_class], shape.features)[0] is not None
    )


def read_constants(shape: Shape, operand: Operand, answer: dict[int, Line]) -> None:
    """Fill `takes` and `constants` of an operand from the seven answers."""
    position = [item.role for item in shape.operands if not item.hidden].index(operand.role)

    def token(code: int) -> str | None:
        if code not in answer:
            return None
        line = answer[code]
        tokens = split_text(line.text)[1]
        return tokens[position] if usable(line) and position < len(tokens) else None

    vector = shape.format.field(operand.role).kind == "s9" and not operand.is_mask
    operand.takes += (
        "v" if vector and (token(VGPR + 100) or _assembled(shape, answer[VGPR + 100])) else ""
    )
    operand.takes += "s" if token(40) else ""
    operand.takes += "i" if token(193) else ""
    # The disassembler takes a literal as a buffer's offset, the assembler does not.
    operand.takes += "l" if token(255) and shape.format.name not in MEMORY else ""
    only_null = token(NULL) == "null" and not token(40)
    # The disassembler writes null for any vector register's field; the assembler knows better.
    operand.takes += (
        "n" if only_null and assemble_each([answer[NULL].text], shape.features)[0] else ""
    )
    if token(193):
        literal = token(255) if "l" in operand.takes else None
        seen = (token(193), token(242), token(248), literal)
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
    lines = disassemble_each(probes, features_of(shapes))
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
            if item.name not in MODIFIER_FIELDS or (
                has_sdst(shape) and item.name in ("abs", "op_sel")
            ):
                continue
            for bit in range(item.bits):
                fill = {**shape.fill, item.name: shape.fill[item.name] ^ (1 << bit)}
                probes.append((shape, item.name, bit, fill))
    lines = disassemble_each(
        (encode(shape.format, shape.code, fill) for shape, _, _, fill in probes),
        features_of(shapes),
    )
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
    if any("index_key" in line.text for _, _, line in effects):
        flags.append("index_key")
    if entries:
        flags.append("sel=" + "".join(str(places.get(place, "x")) for place in range(entries)))
    return flags + ["mix"] * mix


_DPP_WORDS = {250: 0xFF00_0105, 233: 0xFAC68805}
_DPP_MODIFIER_BITS = {"dneg0": 20, "dabs0": 21, "dneg1": 22, "dabs1": 23}


def dpp_probes(shape: Shape) -> list[tuple[str, dict[str, int], int]]:
    """Return (what is tried, fields, DPP word): both kinds of DPP, modifier bits, scalars as
    sources."""
    word = _DPP_WORDS[250]
    probes = [(f"dpp{kind}", {**shape.fill, "src0": kind}, _DPP_WORDS[kind]) for kind in _DPP_WORDS]
    rows = {**shape.fill, "src0": 250}
    if shape.format.size == 4:
        probes += [(name, rows, word | 1 << bit) for name, bit in _DPP_MODIFIER_BITS.items()]
    if shape.format.name == "VOP3P":
        roles = [operand.role for operand in shape.operands if operand.role in ("src1", "src2")]
        probes += [(f"dpp_v{role[-1]}", {**rows, role: 40}, word) for role in roles]
    return probes


def dpp_flags(names: list[str], lines: list[Line]) -> list[str]:
    """Return the flags of one opcode from the answers to its probes, the first two being DPP16 and
    DPP8."""
    accepted = [usable(line) and ("row_mask" in line.text or "dpp8" in line.text) for line in lines]
    flags = ["dpp16"] * accepted[0] + ["dpp8"] * accepted[1]
    if not accepted[0]:
        return flags
    for name, line, good in list(zip(names, lines, accepted, strict=True))[2:]:
        if name.startswith("dpp_v"):
            flags += [name] * (not good)
        elif not good:
            flags.append("no_" + name)
        elif line.text != lines[0].text:
            flags.append(name)
    return flags


def try_dpp(shapes: list[Shape]) -> None:
    """Find which opcodes take DPP16 and DPP8, and which sources and source modifiers they take
    then."""
    tried = [(shape, dpp_probes(shape)) for shape in shapes]
    codes = [
        encode(shape.format, shape.code, fill, word)
        for shape, probes in tried
        for _, fill, word in probes
    ]
    lines = disassemble_each(codes, features_of(shapes))
    start = 0
    for shape, probes in tried:
        answers = lines[start : start + len(probes)]
        shape.flags += dpp_flags([name for name, _, _ in probes], answers)
        start += len(probes)


def try_halves(shapes: list[Shape]) -> None:
    """Find the operands that may name either half of a VGPR: they have .l with real 16-bit
    registers."""
    codes = [encode(shape.format, shape.code, shape.fill) for shape in shapes]
    for shape, line in zip(shapes, disassemble_each(codes, HALVES), strict=True):
        _, tokens, _ = split_text(line.text)
        shown = [operand for operand in shape.operands if not operand.hidden]
        if len(tokens) != len(shown):
            continue
        for operand, token in zip(shown, tokens, strict=True):
            operand.half = token.endswith((".l", ".h"))


_SELECTED = {"src0": 0, "src1": 1, "src2": 2, "vdst": 3}


def try_unused_selects(shapes: list[Shape]) -> None:
    """Find the op_sel bits of 32-bit operands that the assembler takes, though they select
    nothing."""
    probes = []
    for shape in shapes:
        halves = {_SELECTED[operand.role] for operand in shape.operands if operand.half}
        if halves and not any(flag.startswith("op_sel=") for flag in shape.flags):
            probes += [(shape, bit) for bit in range(4) if bit not in halves]
    codes = [
        encode(shape.format, shape.code, {**shape.fill, "op_sel": 1 << bit})
        for shape, bit in probes
    ]
    texts = [line.text for line in disassemble_each(codes, HALVES)]
    unused: dict[int, int] = {}
    for (shape, bit), code, made in zip(probes, codes, assemble_each(texts, HALVES), strict=True):
        # The fill has values in fields of the second dword that the opcode may not have.
        if made and code[:4] == made.code[:4]:
            unused[id(shape)] = unused.get(id(shape), 0) | 1 << bit
    for shape in shapes:
        if id(shape) in unused:
            shape.flags.append(f"unused_op_sel={unused[id(shape)]:x}")
