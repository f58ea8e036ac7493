"""Instructions as text, as `llvm-objdump -d` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.isa.immediate_text import (
    buffer_format_text,
    control_text,
    hardware_register_text,
    index_mode_text,
    message_text,
    policy_text,
    program_text,
    short_text,
    swizzle_text,
    version_text,
)
from amdjit.isa.instruction import (
    Dpp,
    InlineConstant,
    Instruction,
    Literal,
    Modifiers,
    Operand,
    Register,
    Sdwa,
)
from amdjit.isa.operand_text import negated, operand_text, register_text
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.isa.traits import Immediate, MemoryKind

# Registers of D of a WMMA in wave32.
_WHOLE_MATRIX = 8
_OUTPUT_MODIFIERS = ("", " mul:2", " mul:4", " div:2")
_SELECTIONS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")


def disassemble(instruction: Instruction, true16: bool = False) -> str:
    """Return the instruction's text, without address and code words.

    true16: write all registers of 16-bit operands as halves, v0.l and v0.h, as LLVM does with
    +real-true16. The bits mean the same either way. Without it, halves are written only if the
    instruction names a VGPR's upper half in a way that the assembler's default syntax cannot
    express.
    """
    if instruction.pair is not None:
        return _dual_text(instruction, instruction.pair)
    opcode = instruction.opcode
    name = "VOP3" if opcode.encoding == "VOP3SD" else opcode.encoding
    row = row_of(name, opcode.code, instruction_set=opcode.instruction_set)
    assert row is not None
    if name in _WITH_HALVES:
        halves = true16 and any(operand.half for operand in row.operands)
        operands, modifiers = _vector_text(
            row, instruction, halves or _needs_halves(row, instruction)
        )
    else:
        operands, modifiers = _WRITERS.get(name, _scalar_text)(row, instruction)
    text = f"{opcode.mnemonic}{_suffix(row, instruction)}"
    listed = ", ".join(operands)
    return f"{text} {listed}{modifiers}" if listed else text + modifiers


def _dual_text(first: Instruction, second: Instruction) -> str:
    """VOPD: after an fmamk, objdump writes the literal source of an fmaak or fmamk as a number."""
    texts = []
    after_multiplier = _has_literal(second) and _multiplies_by_literal(first)
    for half, follows in ((first, False), (second, after_multiplier)):
        row = row_of(
            half.opcode.encoding, half.opcode.code, instruction_set=half.opcode.instruction_set
        )
        assert row is not None
        operands = [
            operand_text(
                value, "plain" if follows and operand.takes != "literal" else operand.constants
            )
            for operand, value in _shown(row, half)
            if value is not None
        ]
        texts.append(f"{half.mnemonic} {', '.join(operands)}")
    return " :: ".join(texts)


def _has_literal(instruction: Instruction) -> bool:
    return any(spec.role == "literal" for spec in instruction.opcode.operands)


def _multiplies_by_literal(instruction: Instruction) -> bool:
    roles = [spec.role for spec in instruction.opcode.operands]
    return roles[:3] == ["vdst", "src0", "literal"]


def _suffix(row: Row, instruction: Instruction) -> str:
    dpp = instruction.modifiers.dpp is not None
    if row.format.name in ("VOP3", "VOP3P"):
        return "_e64_dpp" if dpp else "_e64" if row.suffixed else ""
    if instruction.modifiers.sdwa is not None:
        return "_sdwa"
    if dpp:
        return "" if row.format.name == "VOPC" or not row.operands else "_dpp"
    return "_e32" if row.suffixed else ""


def _shown(row: Row, instruction: Instruction) -> list[tuple[OperandRow, Operand | None]]:
    pairs = zip(row.operands, instruction.operands, strict=True)
    return [(operand, value) for operand, value in pairs if not operand.hidden]


def _plain_operands(row: Row, instruction: Instruction) -> list[str]:
    texts = []
    for operand, value in _shown(row, instruction):
        if value is not None:
            texts.append(operand_text(value, operand.constants))
    return texts


def _scalar_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    """Scalar formats without immediates."""
    return _plain_operands(row, instruction), ""


def _vector_text(row: Row, instruction: Instruction, halves: bool) -> tuple[list[str], str]:
    """VOP1, VOP2, VOPC, VOP3, VOP3P and VINTERP; halves: write .l and .h."""
    modifiers = instruction.modifiers
    signed = row.format.name != "VOP3P" or row.has("mix")
    texts: list[str] = []
    for operand, value in _shown(row, instruction):
        if value is None:
            continue
        text = operand_text(value, _constants(operand, instruction), halves and operand.half)
        if operand.source in (0, 1, 2) and operand.spec.type != "mask" and signed:
            text = _with_sign(row, operand, value, text, modifiers)
        texts.append(text)
    if row.format.name == "VOP2":
        texts = _with_mask_in_bars(instruction, texts)
    return texts, _modifier_text(row, modifiers, halves, instruction.immediates)


def _constants(operand: OperandRow, instruction: Instruction) -> str:
    """Return how constants are written: as C of gfx11's WMMA, as doubles in wave32 and as dwords in
    wave64, where D has half as many registers."""
    target = instruction.operands[0]
    if operand.constants != "f64" or instruction.traits.matrix is None:
        return operand.constants
    spread = isinstance(target, Register) and target.dwords < _WHOLE_MATRIX
    return "literal" if spread else operand.constants


def _with_sign(
    row: Row, operand: OperandRow, value: Operand, text: str, modifiers: Modifiers
) -> str:
    bit = 1 << operand.source
    if modifiers.sdwa is not None and modifiers.sdwa.extended & bit:
        return f"sext({text})"
    constant = isinstance(value, InlineConstant | Literal)
    return negated(text, constant, bool(modifiers.neg & bit), bool(modifiers.abs & bit))


def _needs_halves(row: Row, instruction: Instruction) -> bool:
    """Return whether the default syntax cannot express the upper half that is named, or even the
    opcode."""
    if row.has("halves"):
        return True
    shown = row.flags.get("op_sel", 0)
    for operand, value in zip(row.operands, instruction.operands, strict=True):
        if operand.half and getattr(value, "half", None) and not (shown >> operand.source) & 1:
            return True
    return False


def _modifier_text(row: Row, modifiers: Modifiers, halves: bool, immediates: dict[str, int]) -> str:
    if row.format.name == "VOP3P":
        text = f" index_key:{immediates['index_key']}" if immediates.get("index_key") else ""
        text += _packed_text(row, modifiers)
    elif row.format.name == "VINTERP":
        clamp = " clamp" if modifiers.clamp else ""
        text = f"{clamp}{_select_text(row, modifiers, halves)} wait_exp:{immediates['wait_exp']}"
    else:
        text = _select_text(row, modifiers, halves)
        text += f" byte_sel:{immediates['byte_sel']}" if immediates.get("byte_sel") else ""
        text += (" clamp" if modifiers.clamp else "") + _OUTPUT_MODIFIERS[modifiers.omod]
    if modifiers.sdwa is not None:
        return text + _sdwa_text(row, modifiers.sdwa)
    controls = row.opcode.instruction_set.dpp_controls
    return text + dpp_text(modifiers.dpp, controls) if modifiers.dpp else text


def _sdwa_text(row: Row, sdwa: Sdwa) -> str:
    text = ""
    if sdwa.destination is not None and row.operands:
        text += f" dst_sel:{_SELECTIONS[sdwa.destination]} dst_unused:{_UNUSED[sdwa.unused]}"
    sources = sum(
        operand.source in (0, 1) and operand.spec.type != "mask" for operand in row.operands
    )
    for number in range(sources):
        text += f" src{number}_sel:{_SELECTIONS[sdwa.sources[number]]}"
    return text


def _select_text(row: Row, modifiers: Modifiers, halves: bool) -> str:
    order = row.selects or (_half_order(row, modifiers.dpp is not None) if halves else "")
    shown = [0 if place == "x" else (modifiers.op_sel >> int(place)) & 1 for place in order]
    return _list_text("op_sel", shown) if any(shown) else ""


def _half_order(row: Row, dpp: bool) -> str:
    """Return the places of op_sel in the syntax with .l and .h; an accumulator is a source too.

    A comparison has a place for its mask, which is always 0, but not with DPP.
    """
    if row.format.name not in ("VOP3", "VINTERP"):
        return ""
    order = "".join(str(operand.source) for operand in row.operands if operand.source in (0, 1, 2))
    destination = next((operand for operand in row.operands if operand.source == 3), None)
    if any(operand.source == 2 and operand.spec.type == "mask" for operand in row.operands):
        return ""
    if destination is None or destination.hidden or (dpp and destination.spec.type == "mask"):
        return order
    return order + ("x3" if destination.spec.read else "3")


def _list_text(name: str, bits: list[int]) -> str:
    return f" {name}:[{','.join(map(str, bits))}]"


def _packed_text(row: Row, modifiers: Modifiers) -> str:
    count = sum(operand.source in (0, 1, 2) for operand in row.operands)

    def bits(mask: int) -> list[int]:
        return [(mask >> bit) & 1 for bit in range(count)]

    text = _select_text(row, modifiers, False)
    if row.flags.get("op_sel_hi"):
        default = 0 if row.has("mix") else 1
        high = bits(modifiers.op_sel_hi)
        text += _list_text("op_sel_hi", high) if any(bit != default for bit in high) else ""
    if not row.has("mix"):
        text += _list_text("neg_lo", bits(modifiers.neg)) if modifiers.neg else ""
        text += _list_text("neg_hi", bits(modifiers.neg_hi)) if modifiers.neg_hi else ""
    return text + (" clamp" if modifiers.clamp else "")


def dpp_text(dpp: Dpp, controls: Mapping[int, str]) -> str:
    """Return how DPP is written after the operands, with a leading blank. controls: the family's
    names."""
    inactive = " fi:1" if dpp.fetch_inactive else ""
    if dpp.lanes is not None:
        return f" dpp8:[{','.join(map(str, dpp.lanes))}]{inactive}"
    assert dpp.control is not None
    bound = " bound_ctrl:1" if dpp.bound_control else ""
    masks = f" row_mask:0x{dpp.row_mask:x} bank_mask:0x{dpp.bank_mask:x}"
    return f" {control_text(dpp.control, controls)}{masks}{bound}{inactive}"


def _with_mask_in_bars(instruction: Instruction, texts: list[str]) -> list[str]:
    chooses = len(texts) == 4 and instruction.opcode.operands[3].type == "mask"
    in_bars = instruction.opcode.instruction_set.writes_mask_in_bars
    if chooses and in_bars and texts[2].endswith("|"):
        return [*texts[:2], f"{texts[2][:-1]}, {texts[3]}|"]
    return texts


def _program_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    if "simm16" not in instruction.immediates:
        return [], ""
    sets = instruction.opcode.instruction_set
    text = program_text(instruction.traits.immediate, instruction.immediates["simm16"], sets)
    return [text] if text else [], ""


def _sopk_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    value = instruction.immediates["simm16"] & 0xFFFF
    registers = _plain_operands(row, instruction)
    immediate = instruction.traits.immediate
    if immediate is Immediate.VERSION:
        return [version_text(value)], ""
    if immediate is not Immediate.HARDWARE_REGISTER:
        return [*registers, str(value) if immediate is Immediate.BRANCH else f"0x{value:x}"], ""
    name = hardware_register_text(value, instruction.opcode.instruction_set.hardware_registers)
    return [name, *registers] if instruction.traits.writes_mode else [*registers, name], ""


def _sop1_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    texts = _plain_operands(row, instruction)
    if "message" in instruction.immediates:
        sets = instruction.opcode.instruction_set
        texts.append(message_text(instruction.immediates["message"], sets))
    return texts, ""


def _sopc_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    texts = _plain_operands(row, instruction)
    if instruction.traits.immediate is Immediate.INDEX_MODE:
        texts.append(index_mode_text(instruction.immediates["index_mode"]))
    return texts, ""


def _matrix_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    """Matrix instructions of gfx9."""
    immediates = instruction.immediates
    text = ""
    if row.format.name == "MAIX":
        low, high = immediates["op_sel"], immediates["op_sel_hi"]
        text += _list_text("op_sel", [(low >> bit) & 1 for bit in range(3)]) if low else ""
        text += _list_text("op_sel_hi", [(high >> bit) & 1 for bit in range(3)])
    for name in ("cbsz", "abid", "blgp"):
        value = immediates.get(name, 0)
        if value and name == "blgp" and row.has("signs"):
            text += _list_text("neg", [(value >> bit) & 1 for bit in range(3)])
        elif value:
            text += f" {name}:{value}"
    return _plain_operands(row, instruction), text


def _signed_hexadecimal(value: int) -> str:
    return f"-0x{-value:x}" if value < 0 else f"0x{value:x}"


def _scalar_memory_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    immediates, access = instruction.immediates, instruction.traits.memory
    if "offset" not in immediates:
        return _plain_operands(row, instruction), ""
    data = [operand_text(value, "32") for value in instruction.operands[:-1] if value is not None]
    soffset, offset = instruction.operands[-1], _signed_hexadecimal(immediates["offset"])
    if access is not None and access.kind is MemoryKind.PREFETCH:
        base = "null" if soffset is None else operand_text(soffset, "32")
        return [*data, offset, base, short_text(immediates["sdata"])], ""
    if "sdata" in immediates:
        data.insert(0, short_text(immediates["sdata"]))
    policy = policy_text(immediates, False, False)
    # gfx11 has both offsets, of which 0 is not written, or as the scalar one.
    has_both = "imm" not in immediates and row.format.find("glc") is not None
    if soffset is None:
        return [*data, "null" if has_both and not immediates["offset"] else offset], policy
    is_shown = immediates.get("imm", immediates["offset"] or not has_both)
    text = f" offset:{offset}" if is_shown else ""
    return [*data, operand_text(soffset, "32")], text + policy


def _lds_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    immediates = instruction.immediates
    if instruction.traits.immediate is Immediate.SWIZZLE:
        return _plain_operands(row, instruction), swizzle_text(immediates["offset"])
    names = ("offset", "offset0", "offset1")
    text = "".join(f" {name}:{immediates[name]}" for name in names if immediates.get(name))
    return _plain_operands(row, instruction), text


def _flat_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    texts = []
    for operand, value in _shown(row, instruction):
        if value is not None:
            texts.append(operand_text(value, "32"))
        elif operand.takes != "returned" and operand.spec.role != "vdst":
            texts.append("off")
    offset = instruction.immediates.get("offset", 0)
    text = (f" offset:{offset}" if offset else "") + _policy(instruction)
    return texts, text + " lds" * instruction.immediates.get("lds", 0)


def _policy(instruction: Instruction) -> str:
    access = instruction.traits.memory
    kind = access.kind if access else None
    return policy_text(instruction.immediates, kind is MemoryKind.ATOMIC, kind is MemoryKind.STORE)


def _buffer_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    if not row.operands:
        return [], _policy(instruction)
    immediates = instruction.immediates
    texts = []
    for operand, value in zip(row.operands, instruction.operands, strict=True):
        if value is not None:
            texts.append(operand_text(value, "32"))
        elif operand.spec.role != "vdata":
            texts.append("off")
    text, access = "", instruction.traits.memory
    if access and access.names_format:
        is_split = instruction.opcode.instruction_set.splits_formats
        text = buffer_format_text(immediates["format"], is_split)
    text += "".join(f" {name}" for name in ("idxen", "offen") if immediates[name])
    text += f" offset:{immediates['offset']}" if immediates["offset"] else ""
    text += _policy(instruction)
    return texts, text + "".join(f" {name}" for name in ("tfe", "lds") if immediates.get(name))


def _direct_text(row: Row, instruction: Instruction) -> tuple[list[str], str]:
    immediates = instruction.immediates
    texts = _plain_operands(row, instruction)
    if instruction.traits.immediate is Immediate.ATTRIBUTE:
        texts.append(f"attr{immediates['attr']}.{'xyzw'[immediates['attr_chan']]}")
    waits = (f" {name}:{value}" for name, value in immediates.items() if name.startswith("wait_"))
    return texts, "".join(waits)


_WITH_HALVES = ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "VINTERP")
_Writer = Callable[[Row, Instruction], tuple[list[str], str]]
_WRITERS: dict[str, _Writer] = {
    "SOPP": _program_text,
    "SOPK": _sopk_text,
    "SOP1": _sop1_text,
    "SOPC": _sopc_text,
    "MAI": _matrix_text,
    "MAIX": _matrix_text,
    "SMEM": _scalar_memory_text,
    "DS": _lds_text,
    "VFLAT": _flat_text,
    "VGLOBAL": _flat_text,
    "VSCRATCH": _flat_text,
    "VBUFFER": _buffer_text,
    "VTBUFFER": _buffer_text,
    "LDSDIR": _direct_text,
}

__all__ = ["disassemble", "dpp_text", "register_text"]
