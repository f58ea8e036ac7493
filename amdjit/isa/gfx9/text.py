"""Instructions of gfx9 as text, as `llvm-objdump -d --mcpu=gfx942` writes them."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.isa.gfx9.immediate_text import (
    buffer_format_text,
    control_text,
    index_mode_text,
    program_text,
)
from amdjit.isa.immediate_text import (
    hardware_register_text,
    short_text,
    swizzle_text,
)
from amdjit.isa.instruction import (
    Dpp,
    InlineConstant,
    Instruction,
    Literal,
    Modifiers,
    Operand,
    Sdwa,
)
from amdjit.isa.operand_text import negated, operand_text
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.isa.traits import Immediate

_OUTPUT_MODIFIERS = ("", " mul:2", " mul:4", " div:2")
_POLICIES = ("glc", "slc", "scc", "sc0", "nt", "sc1")
_SELECTIONS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
_Text = tuple[list[str], str]


def disassemble(instruction: Instruction) -> str:
    """Return the instruction's text, without address and code words."""
    opcode = instruction.opcode
    name = "VOP3" if opcode.encoding == "VOP3SD" else opcode.encoding
    row = row_of(name, opcode.code, 64, opcode.instruction_set)
    assert row is not None
    operands, modifiers = _WRITERS.get(name, _vector)(row, instruction)
    text = f"{opcode.mnemonic}{_suffix(row, instruction)}"
    listed = ", ".join(operands)
    return f"{text} {listed}{modifiers}" if listed else text + modifiers


def _suffix(row: Row, instruction: Instruction) -> str:
    if row.format.name == "VOP3":
        return "_e64" if row.suffixed else ""
    if instruction.modifiers.sdwa is not None:
        return "_sdwa"
    if instruction.modifiers.dpp is not None:
        return "_dpp" if row.operands else ""
    return "_e32" if row.suffixed else ""


def _shown(row: Row, instruction: Instruction) -> list[tuple[OperandRow, Operand | None]]:
    pairs = zip(row.operands, instruction.operands, strict=True)
    return [(operand, value) for operand, value in pairs if not operand.hidden]


def _registers(row: Row, instruction: Instruction) -> list[str]:
    return [
        operand_text(value, operand.constants)
        for operand, value in _shown(row, instruction)
        if value is not None
    ]


def _plain(row: Row, instruction: Instruction) -> _Text:
    return _registers(row, instruction), ""


def _vector(row: Row, instruction: Instruction) -> _Text:
    """VOP1, VOP2, VOPC, VOP3 and VOP3P."""
    modifiers = instruction.modifiers
    signed = row.format.name != "VOP3P" or row.has("mix")
    texts = []
    for operand, value in _shown(row, instruction):
        assert value is not None
        text = operand_text(value, operand.constants)
        if operand.source in (0, 1, 2) and operand.spec.type != "mask" and signed:
            text = _signed(operand, value, text, modifiers)
        texts.append(text)
    return texts, _modifiers(row, modifiers)


def _signed(operand: OperandRow, value: Operand, text: str, modifiers: Modifiers) -> str:
    bit = 1 << operand.source
    if modifiers.sdwa is not None and modifiers.sdwa.extended & bit:
        return f"sext({text})"
    constant = isinstance(value, InlineConstant | Literal)
    return negated(text, constant, bool(modifiers.neg & bit), bool(modifiers.abs & bit))


def _modifiers(row: Row, modifiers: Modifiers) -> str:
    results = (" clamp" if modifiers.clamp else "") + _OUTPUT_MODIFIERS[modifiers.omod]
    if modifiers.sdwa is not None:
        return results + _sdwa(row, modifiers.sdwa)
    if modifiers.dpp is not None:
        return _dpp(modifiers.dpp)
    if row.format.name == "VOP3P":
        return _packed(row, modifiers)
    return _select(row, modifiers) + results


def _sdwa(row: Row, sdwa: Sdwa) -> str:
    text = ""
    if sdwa.destination is not None and row.operands:
        text += f" dst_sel:{_SELECTIONS[sdwa.destination]} dst_unused:{_UNUSED[sdwa.unused]}"
    sources = sum(
        operand.source in (0, 1) and operand.spec.type != "mask" for operand in row.operands
    )
    for number in range(sources):
        text += f" src{number}_sel:{_SELECTIONS[sdwa.sources[number]]}"
    return text


def _dpp(dpp: Dpp) -> str:
    assert dpp.control is not None
    bound = " bound_ctrl:1" if dpp.bound_control else ""
    masks = f" row_mask:0x{dpp.row_mask:x} bank_mask:0x{dpp.bank_mask:x}"
    return f" {control_text(dpp.control)}{masks}{bound}"


def _select(row: Row, modifiers: Modifiers) -> str:
    shown = [0 if place == "x" else (modifiers.op_sel >> int(place)) & 1 for place in row.selects]
    return _list("op_sel", shown) if any(shown) else ""


def _list(name: str, bits: list[int]) -> str:
    return f" {name}:[{','.join(map(str, bits))}]"


def _packed(row: Row, modifiers: Modifiers) -> str:
    count = sum(operand.source in (0, 1, 2) for operand in row.operands)

    def bits(mask: int) -> list[int]:
        return [(mask >> bit) & 1 for bit in range(count)]

    text = _select(row, modifiers)
    if row.flags.get("op_sel_hi"):
        default = 0 if row.has("mix") else 1
        high = bits(modifiers.op_sel_hi)
        text += _list("op_sel_hi", high) if any(bit != default for bit in high) else ""
    if not row.has("mix"):
        text += _list("neg_lo", bits(modifiers.neg)) if modifiers.neg else ""
        text += _list("neg_hi", bits(modifiers.neg_hi)) if modifiers.neg_hi else ""
    return text + (" clamp" if modifiers.clamp else "")


def _matrix(row: Row, instruction: Instruction) -> _Text:
    immediates = instruction.immediates
    text = ""
    if row.format.name == "MAIX":
        low, high = immediates["op_sel"], immediates["op_sel_hi"]
        text += _list("op_sel", [(low >> bit) & 1 for bit in range(3)]) if low else ""
        text += _list("op_sel_hi", [(high >> bit) & 1 for bit in range(3)])
    for name in ("cbsz", "abid", "blgp"):
        value = immediates.get(name, 0)
        if value and name == "blgp" and row.has("signs"):
            text += _list("neg", [(value >> bit) & 1 for bit in range(3)])
        elif value:
            text += f" {name}:{value}"
    return _registers(row, instruction), text


def _program(row: Row, instruction: Instruction) -> _Text:
    if "simm16" not in instruction.immediates:
        return [], ""
    text = program_text(
        instruction.traits.immediate,
        instruction.immediates["simm16"],
        instruction.opcode.instruction_set.messages,
    )
    return [text] if text else [], ""


def _sopk(row: Row, instruction: Instruction) -> _Text:
    value = instruction.immediates["simm16"] & 0xFFFF
    registers = _registers(row, instruction)
    immediate = instruction.traits.immediate
    if immediate is not Immediate.HARDWARE_REGISTER:
        return [*registers, str(value) if immediate is Immediate.BRANCH else f"0x{value:x}"], ""
    name = hardware_register_text(value, instruction.opcode.instruction_set.hardware_registers)
    return [name, *registers] if instruction.traits.writes_mode else [*registers, name], ""


def _sopc(row: Row, instruction: Instruction) -> _Text:
    registers = _registers(row, instruction)
    if instruction.traits.immediate is Immediate.INDEX_MODE:
        registers.append(index_mode_text(instruction.immediates["index_mode"]))
    return registers, ""


def _scalar_memory(row: Row, instruction: Instruction) -> _Text:
    immediates = instruction.immediates
    if not immediates:
        return _registers(row, instruction), ""
    *values, soffset = instruction.operands
    texts = [operand_text(value, "32") for value in values if value is not None]
    if "sdata" in immediates:
        texts.insert(0, short_text(immediates["sdata"]))
    policy = " glc" if immediates["glc"] else ""
    number = immediates["offset"]
    offset = f"-0x{-number:x}" if number < 0 else f"0x{number:x}"
    if soffset is None:
        return [*texts, offset], policy
    text = f" offset:{offset}" if immediates["imm"] else ""
    return [*texts, operand_text(soffset, "32")], text + policy


def _lds(row: Row, instruction: Instruction) -> _Text:
    immediates = instruction.immediates
    if instruction.traits.immediate is Immediate.SWIZZLE:
        return _registers(row, instruction), swizzle_text(immediates["offset"])
    names = ("offset", "offset0", "offset1")
    text = "".join(f" {name}:{immediates[name]}" for name in names if immediates.get(name))
    return _registers(row, instruction), text


def _policy(immediates: dict[str, int]) -> str:
    return "".join(f" {name}" for name in _POLICIES if immediates.get(name))


def _flat(row: Row, instruction: Instruction) -> _Text:
    texts = []
    for operand, value in _shown(row, instruction):
        if value is not None:
            texts.append(operand_text(value, "32"))
        elif operand.takes != "returned" and operand.spec.role != "vdst":
            texts.append("off")
    immediates = instruction.immediates
    offset = immediates["offset"]
    text = (f" offset:{offset}" if offset else "") + _policy(immediates)
    return texts, text + " lds" * immediates["lds"]


def _buffer(row: Row, instruction: Instruction) -> _Text:
    immediates = instruction.immediates
    if not row.operands:
        return [], _policy(immediates)
    texts = []
    for operand, value in _shown(row, instruction):
        if value is not None:
            texts.append(operand_text(value, "32"))
        elif operand.spec.role != "vdata":
            texts.append("off")
    text = ""
    access = instruction.traits.memory
    if access and access.names_format:
        text = buffer_format_text(immediates["format"])
    text += "".join(f" {name}" for name in ("idxen", "offen") if immediates[name])
    text += f" offset:{immediates['offset']}" if immediates["offset"] else ""
    text += _policy(immediates)
    return texts, text + "".join(f" {name}" for name in ("tfe", "lds") if immediates[name])


_WRITERS: dict[str, Callable[[Row, Instruction], _Text]] = {
    "SOP1": _plain,
    "SOP2": _plain,
    "SOPC": _sopc,
    "SOPP": _program,
    "SOPK": _sopk,
    "SMEM": _scalar_memory,
    "MAI": _matrix,
    "MAIX": _matrix,
    "DS": _lds,
    "VFLAT": _flat,
    "VGLOBAL": _flat,
    "VSCRATCH": _flat,
    "VBUFFER": _buffer,
    "VTBUFFER": _buffer,
}
