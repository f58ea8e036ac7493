"""What is gfx9's own among the shapes of opcodes: matrix instructions with accumulation VGPRs,
SDWA, and which memory instructions take those registers."""

from __future__ import annotations

import re

from amdjit.isa.formats import Format
from tests.emulator.decoder.assembler import assemble_each
from tests.emulator.decoder.objdump import disassemble_each
from tests.emulator.decoder.opcode_shapes import Operand, Shape, encode, split_text, usable

_MATRIX = re.compile(r"^v_(mfma|smfmac|accvgpr_(read|write))")
_REGISTER = re.compile(r"^([va])(?:(\d+)|\[(\d+):(\d+)\])$")
_SDWA = 249
# BYTE_0 of both sources, BYTE_1 of the result, the rest of it kept.
_SDWA_WORD = 0x00001101
_SDWA_MASK_WORD = 0x00008401
# BYTE_1 of the source, all of the result: conversions of 8-bit floats choose no part of that.
_SDWA_WHOLE_WORD = 0x00010600
_BROADCAST_WORD = 0xFF015304
_SIGN = {"sext0": 19, "neg0": 20, "abs0": 21, "sext1": 27, "neg1": 28, "abs1": 29}
_RESULT = {"clamp": 13, "omod": 14}


def is_matrix(text: str) -> bool:
    """Whether an instruction has the format of the matrix instructions."""
    return _MATRIX.match(text) is not None


def matrix_shapes(form: Format, cpu_has_one_file: bool) -> list[Shape]:
    """Return the shapes of all matrix opcodes. cpu_has_one_file: results may be in either kind of
    VGPR."""
    codes = range(1 << form.opcode.bits)
    fill = {"src0": 256 + 32, "src1": 256 + 64, "src2": 256 + 96, "vdst": 160}
    found: dict[int, tuple[dict[str, int], str]] = {}
    for more in ({}, {"acc": 1}, {"src1": 0, "src2": 0}, {"src1": 0, "src2": 0, "acc": 1}):
        tried = {**fill, **more}
        lines = disassemble_each(encode(form, code, tried) for code in codes)
        for code, line in zip(codes, lines, strict=True):
            if usable(line) and is_matrix(line.text) and "ld_scale" not in line.text:
                found.setdefault(code, (tried, line.text))
    return [_matrix_shape(form, code, *found[code]) for code in sorted(found)]


def _matrix_shape(form: Format, code: int, fill: dict[str, int], text: str) -> Shape:
    name, tokens, _ = split_text(text)
    roles = [role for role in ("vdst", "src0", "src1", "src2") if role in form_roles(form)]
    operands = []
    for role, token in zip(roles, tokens, strict=False):
        match = _REGISTER.match(token)
        assert match, text
        dwords = 1 if match[2] else int(match[4]) - int(match[3]) + 1
        operands.append(Operand(role, dwords))
    shape = Shape(form, code, fill, name, False, operands)
    _try_files(shape)
    _try_fields(shape, text)
    return shape


def form_roles(form: Format) -> set[str]:
    """Return the names of a format's fields."""
    return {item.name for item in form.fields}


def _try_files(shape: Shape) -> None:
    """Which operands take which registers, and inline constants."""
    probes = []
    for acc in range(4):
        for acc_cd in range(2):
            probes.append({**shape.fill, "acc": acc, "acc_cd": acc_cd})
    constants = [
        (operand, {**shape.fill, operand.role: value, "acc": 0})
        for operand in shape.operands
        if operand.role != "vdst"
        for value in (193, 40, 254)
    ]
    lines = disassemble_each(
        encode(shape.format, shape.code, fill) for fill in (*probes, *(f for _, f in constants))
    )
    for line in lines[: len(probes)]:
        if usable(line):
            for operand, token in zip(shape.operands, split_text(line.text)[1], strict=True):
                operand.takes += token[0] if token[0] not in operand.takes else ""
    for (operand, fill), line in zip(constants, lines[len(probes) :], strict=True):
        if usable(line):
            operand.takes += {193: "i", 40: "s", 254: "d"}[fill[operand.role]]


def _try_fields(shape: Shape, text: str) -> None:
    for name in ("cbsz", "abid", "blgp"):
        field = shape.format.field(name)
        lines = disassemble_each(
            encode(shape.format, shape.code, {**shape.fill, name: 1 << bit})
            for bit in range(field.bits)
        )
        mask = sum(1 << bit for bit, line in enumerate(lines) if usable(line) and line.text != text)
        refused = sum(1 << bit for bit, line in enumerate(lines) if not usable(line))
        if name == "blgp" and any("neg:[" in line.text for line in lines):
            shape.flags.append("signs")
        shape.flags += [f"{name}={mask:x}"] * bool(mask) + [f"!{name}={refused:x}"] * bool(refused)
    if "f8f6f4" in shape.mnemonic:
        shape.flags.append("formats")


def try_sdwa(shapes: list[Shape]) -> None:
    """Find which opcodes take SDWA, and which of its modifiers."""
    compares = bool(shapes) and shapes[0].format.name == "VOPC"
    _try_sdwa(shapes, _SDWA_MASK_WORD if compares else _SDWA_WORD, not compares, "sdwa")
    if not compares:
        others = [shape for shape in shapes if "sdwa" not in shape.flags]
        _try_sdwa(others, _SDWA_WHOLE_WORD, True, "sdwa swhole")


def _try_sdwa(shapes: list[Shape], word: int, has_result: bool, found: str) -> None:
    names = {**_SIGN, **(_RESULT if has_result else {})}
    bits = [0, *(1 << bit for bit in names.values())]
    lines = disassemble_each(
        encode(shape.format, shape.code, {**shape.fill, "src0": _SDWA}, word | bit)
        for shape in shapes
        for bit in bits
    )
    for index, shape in enumerate(shapes):
        first, *others = lines[index * len(bits) : (index + 1) * len(bits)]
        if not usable(first) or "_sdwa" not in first.text:
            continue
        shape.flags.extend(found.split())
        for name, line in zip(names, others, strict=True):
            if usable(line) and line.text != first.text:
                shape.flags.append(f"s{name}")


def try_broadcasts(shapes: list[Shape]) -> None:
    """Find the opcodes, of 64 bits, that take no DPP but row_newbcast."""
    lines = disassemble_each(
        encode(shape.format, shape.code, {**shape.fill, "src0": 250}, _BROADCAST_WORD)
        for shape in shapes
    )
    for shape, line in zip(shapes, lines, strict=True):
        if "dpp16" not in shape.flags and usable(line) and "row_newbcast" in line.text:
            shape.flags.append("dpp_newbcast")


def try_direct_loads(shapes: list[Shape]) -> None:
    """Find the loads that put their data into LDS if a bit says so."""
    if not shapes or "lds" not in form_roles(shapes[0].format):
        return
    lines = disassemble_each(
        encode(shape.format, shape.code, {**shape.fill, "lds": 1}) for shape in shapes
    )
    for shape, line in zip(shapes, lines, strict=True):
        if usable(line) and line.text.endswith(" lds") and assemble_each([line.text])[0]:
            shape.flags.append("lds")


def try_accumulators(shapes: list[Shape]) -> None:
    """Find the memory operands that may be accumulation VGPRs."""
    if not shapes or "acc" not in form_roles(shapes[0].format):
        return
    lines = disassemble_each(
        encode(shape.format, shape.code, {**shape.fill, "acc": 1}) for shape in shapes
    )
    for shape, line in zip(shapes, lines, strict=True):
        if usable(line) and re.search(r"\ba(\d|\[)", line.text):
            shape.flags.append("acc")


_NAMED = re.compile(r"_(?P<d>f32|f64|i32)_\d+x\d+x\d+_?(\db_)?(?P<a>x?f32|f64|b?f16|i8|[bf][pf]8)?")


def matrix_type(mnemonic: str, role: str, dwords: int) -> str:
    """Return the type of a matrix instruction's operand: what a lane holds, as far as names say."""
    match = _NAMED.search(mnemonic)
    if match is None or (mnemonic.startswith("v_smfmac") and role == "src2"):
        return f"b{32 * dwords}"
    name = match["d"] if role in ("vdst", "src2") else match["a"]
    if name is None:
        return f"b{32 * dwords}"
    if role == "src1" and (other := re.search(r"_[bf][pf]8_([bf][pf]8)$", mnemonic)):
        name = other[1]
    name = name.replace("xf32", "f32")
    count = 32 * dwords // int(re.search(r"\d+$", name)[0])  # type: ignore[index]
    return name if count == 1 else f"v{count}{name}"
