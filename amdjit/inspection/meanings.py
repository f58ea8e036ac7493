"""What an instruction does, in one sentence; and the sentences of a kernel's instructions, for
views that show them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from amdjit.code_object import CodeObject
from amdjit.emulator.checks.waits.counters import effect_of
from amdjit.inspection.facts import KernelFacts
from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.immediate_text import (
    hardware_register_text,
    message_text,
    program_text,
    short_text,
    swizzle_text,
    version_text,
)
from amdjit.isa.instruction import (
    InlineConstant,
    Instruction,
    Literal,
    Modifiers,
    Opcode,
    Operand,
)
from amdjit.isa.instruction_set import instruction_set_in
from amdjit.isa.matrix_products import BlockProduct, MatrixProduct
from amdjit.isa.mnemonics import phrase_of
from amdjit.isa.operand_text import negated, operand_text
from amdjit.isa.rows import OperandRow, Row, row_of
from amdjit.isa.text import dpp_text
from amdjit.isa.traits import (
    Access,
    CacheAction,
    Flag,
    Immediate,
    MemoryKind,
    Operator,
    Result,
    ScalarLogic,
    Space,
    Traits,
    Unit,
)
from amdjit.isa.traits import Destination as LogicDestination
from amdjit.isa.wait_counters import WaitEvent, WaitField

__all__ = ["meaning", "meanings_of", "opcode_meaning"]


_FLAGS = {Flag.SCC: "SCC", Flag.VCC: "VCC", Flag.EXEC: "EXEC"}
_OPERATORS = {Operator.AND: "&", Operator.OR: "|", Operator.XOR: "^"}


def meaning(instruction: Instruction) -> str:
    """Return what an instruction does with its operands, as a sentence: `v1 = s2 * v1 in f32, in
    each active lane.`"""
    if instruction.pair is not None:
        first = _sentence(named(instruction)).rstrip(".")
        second = _sentence(named(instruction.pair))
        return f"Two operations at once: {first}; and {second}"
    return _capital(_sentence(named(instruction), modifier_notes(instruction)))


@cache
def opcode_meaning(opcode: Opcode) -> str:
    """Return what the instructions of an opcode do, as a sentence with d for the destination, a, b
    and c for the sources and k for the immediate."""
    return _capital(_sentence(named_by_role(opcode)))


def _capital(sentence: str) -> str:
    """Begin with a capital letter, unless it is the name of an operand."""
    word = sentence.split(" ", 1)[0]
    return sentence[0].upper() + sentence[1:] if word.isalpha() and len(word) > 1 else sentence


def _sentence(subject: Named, notes: tuple[str, ...] = ()) -> str:
    return ", ".join((_body(subject), *notes)) + "."


def _body(subject: Named) -> str:
    traits = subject.opcode.traits
    if traits.condition is not None:
        flag = _FLAGS[traits.condition.flag]
        return (
            f"jumps to {subject.target} if {flag} is {'not 0' if traits.condition.nonzero else '0'}"
        )
    if traits.logic is not None:
        return _logic(subject, traits.logic)
    if traits.matrix is not None:
        return _matrix(subject, traits.matrix)
    if traits.block_product is not None:
        return _block_product(subject, traits.block_product)
    if traits.waits and traits.unit is Unit.SALU:
        return _wait(subject)
    if traits.memory is not None or traits.cache is not None:
        return memory_body(subject, phrase_of(traits.operation))
    done, semicolon, more = subject.fill(phrase_of(traits.operation)).partition(";")
    return done + _where(traits) + semicolon + more + _counts(subject)


def _where(traits: Traits) -> str:
    """In which lanes a vector instruction computes."""
    is_vector = traits.unit in (Unit.VALU, Unit.TRANSCENDENTAL)
    is_vector = is_vector and (traits.result is not Result.NONE or traits.writes_exec)
    if traits.is_pseudo_scalar:
        return ", once for the wave"
    if not is_vector or traits.compares or not (traits.lane_by_lane or traits.moved_role):
        return ""
    return ", in each active lane"


def _counts(subject: Named) -> str:
    return f"; counts on {subject.counters}" if subject.counters else ""


def _logic(subject: Named, logic: ScalarLogic) -> str:
    width = subject.opcode.operands[0].type
    first = subject.names["a"]
    to_exec = logic.destination is not LogicDestination.REGISTER
    second = "EXEC" if to_exec else subject.names["b"]
    terms = [
        f"~{name}" if logic.complemented == n else name for n, name in enumerate((first, second))
    ]
    value = f" {_OPERATORS[logic.operator]} ".join(terms)
    value = f"~({value})" if logic.is_negated else value
    destination = subject.names["d"]
    if logic.destination is LogicDestination.REGISTER:
        return f"{destination} = {value} in {width}; SCC = the result is not 0"
    if logic.destination is LogicDestination.EXEC:
        return f"{destination} = EXEC, then EXEC = {value} in {width}; SCC = EXEC is not 0"
    return f"EXEC = {value} in {width}, then {destination} = EXEC; SCC = EXEC is not 0"


def _matrix(subject: Named, product: MatrixProduct) -> str:
    d, a, b, c = (subject.names[name] for name in "dabc")
    types = product.a if product.a == product.b else f"{product.a} and {product.b}"
    if product.sparse:
        return (
            f"{d} = A * B + {d} by the whole wave: {d} is 16x16 in {product.result}, A ({a}, half"
            f" of its elements, at the places in {c}) is 16x{product.k} and B ({b}) {product.k}x16,"
            f" in {types}"
        )
    return (
        f"{d} = A * B + C by the whole wave: {d} and C ({c}) are 16x16 in {product.result}, A ({a})"
        f" is 16x{product.k} and B ({b}) {product.k}x16, in {types}"
    )


def _block_product(subject: Named, product: BlockProduct) -> str:
    d, a, b, c = (subject.names[name] for name in "dabc")
    types = product.a if product.a == product.b else f"{product.a} and {product.b}"
    if product.a == "f8f6f4":
        types = "formats of 8, 6 or 4 bits"
    blocks = product.blocks(subject.opcode.operands[0].dwords)
    where = f"each of {blocks} blocks" if blocks > 1 else "the whole wave"
    side, k = product.m, product.k
    if product.sparse:
        return (
            f"{d} = A * B + {d} by {where}, whatever EXEC is: {d} is {side}x{side} in "
            f"{product.result}, A ({a}, half of its elements, at the places in {c}) is {side}x{k} "
            f"and B ({b}) {k}x{side}, in {types}"
        )
    return (
        f"{d} = A * B + C by {where}, whatever EXEC is: {d} and C ({c}) are {side}x{side} in "
        f"{product.result}, A ({a}) is {side}x{k} and B ({b}) {k}x{side}, in {types}"
    )


_IN_FLIGHT = {
    "loadcnt": "vector memory loads",
    "storecnt": "vector memory stores",
    "dscnt": "LDS instructions",
    "kmcnt": "scalar memory instructions and messages",
    "expcnt": "LDS-direct loads",
}


def _wait(subject: Named) -> str:
    if not subject.reads("simm16"):
        return subject.fill(phrase_of(subject.opcode.traits.operation))
    parts = []
    for field in subject.opcode.traits.waits:
        counted = _IN_FLIGHT.get(field.counter.name, f"events on {field.counter.name}")
        left = subject.left(field)
        parts.append(f"{'no' if left == '0' else f'at most {left}'} {counted}")
    return f"waits until {' and '.join(parts)} are in flight"


# Modifiers of an instruction, in words.

_OUTPUT = ("", "the result times 2", "the result times 4", "the result divided by 2")


def modifier_notes(instruction: Instruction) -> tuple[str, ...]:
    """Return what modifiers change that the operands' texts do not show."""
    modifiers = instruction.modifiers
    notes = [_OUTPUT[modifiers.omod], _packed(instruction, modifiers)]
    if modifiers.clamp:
        notes.append(_clamp(instruction))
    if modifiers.dpp is not None:
        controls = instruction.opcode.instruction_set.dpp_controls
        text = dpp_text(modifiers.dpp, controls).strip()
        notes.append(f"with the first source from other lanes ({text})")
    return tuple(note for note in notes if note)


def _clamp(instruction: Instruction) -> str:
    written = next((spec for spec in instruction.opcode.operands if spec.written), None)
    is_float = written is not None and "f" in written.type
    return "limited to 0..1" if is_float else "limited to what its type holds"


def _packed(instruction: Instruction, modifiers: Modifiers) -> str:
    """VOP3P: signs and choices of halves. For iu4 and iu8, neg says that a source is signed."""
    if instruction.opcode.encoding != "VOP3P" or instruction.traits.is_mixed:
        return ""
    sources = [spec for spec in instruction.opcode.operands if spec.role.startswith("src")]
    if any("iu" in spec.type for spec in sources):
        words = ["signed" if modifiers.neg >> n & 1 else "unsigned" for n in (0, 1)]
        return f"with {words[0]} A and {words[1]} B"
    notes = []
    if modifiers.neg or modifiers.neg_hi:
        notes.append("with signs changed as neg_lo and neg_hi say")
    if modifiers.op_sel or (
        instruction.traits.is_packed and modifiers.op_sel_hi != _halves(sources)
    ):
        notes.append("with halves chosen as op_sel and op_sel_hi say")
    return ", ".join(notes)


def _halves(sources: Sequence[object]) -> int:
    """The high halves of all sources, for the high half of the result."""
    return (1 << len(sources)) - 1


# What memory instructions do, in words.


_SPACES = {
    Space.GLOBAL: "global memory",
    Space.LDS: "LDS",
    Space.PRIVATE: "private memory",
    Space.FLAT: "memory, global or LDS or private as the address says,",
}
_CACHES = {
    CacheAction.INVALIDATE: "invalidates caches, so that later loads see what others have written",
    CacheAction.WRITE_BACK: "writes caches back, so that others see earlier stores",
    CacheAction.BOTH: "writes caches back and invalidates them",
}


def memory_body(subject: Named, phrase: str) -> str:
    """Return what a memory or cache instruction does. phrase: as its opcode has it, of an atomic
    its operation, else details."""
    traits = subject.opcode.traits
    if traits.cache is not None:
        cache = "the scalar data cache: " if traits.unit is Unit.SCALAR_MEMORY else ""
        return f"{cache}{_CACHES[traits.cache]}{_counts(subject)}"
    access = traits.memory
    assert access is not None
    if access.kind is MemoryKind.ATOMIC:
        return _atomic(subject, access, subject.fill(phrase))
    details = f" ({phrase})" if phrase else ""
    return _transfer(subject, access) + details + _counts(subject)


def _atomic(subject: Named, access: Access, operation: str) -> str:
    returned = subject.names.get("d") or ""
    place = _place(subject, access)
    text = f"{_lanes(subject).strip()}, atomically, {operation}, where mem is {place}"
    if subject.returns:
        text += f"; {returned} = the old value"
    elif subject.returns is None:
        text += f"; {returned} = the old value if it is asked for"
    return text + _counts(subject)


def _transfer(subject: Named, access: Access) -> str:
    place = _place(subject, access)
    data = subject.names.get("d") or subject.names.get("a", "")
    both = f" and {subject.names['b']}" if access.has_two_addresses and "b" in subject.names else ""
    half = {None: "", 0: "the low half of ", 1: "the high half of "}[access.half]
    amount = _amount(access)
    if access.kind is MemoryKind.LOAD:
        how = ", transposed between lanes," if access.is_transposed else ""
        return f"loads {amount}{_lanes(subject)} from {place}{how} into {half}{data}"
    if access.kind is MemoryKind.STORE:
        return f"stores {amount} of {half}{data}{both}{_lanes(subject)} to {place}"
    if access.kind is MemoryKind.PREFETCH:
        return f"brings {place} into a cache"
    what = "the buffer's" if access.has_descriptor else "the address's"
    return f"probes {what} translation, of {place}"


def _amount(access: Access) -> str:
    if access.converts:
        return (
            "a value in the format of the instruction"
            if access.names_format
            else ("a value in the buffer's format")
        )
    if not access.size:
        return "registers"
    each = " each" if access.has_two_addresses else ""
    return f"{access.size} byte{'s' if access.size > 1 else ''}{each}"


def _lanes(subject: Named) -> str:
    if subject.opcode.traits.unit is Unit.SCALAR_MEMORY:
        return " for the wave"
    return " for each active lane" if subject.opcode.traits.lane_by_lane else " for the wave"


def _place(subject: Named, access: Access) -> str:
    """Return the memory that is accessed, with its address as a sum."""
    roles = subject.roles
    terms = [roles.get(role) or "" for role in ("sbase", "saddr", "vaddr", "addr", "soffset")]
    terms = [term for term in terms if term and term not in ("null", "off")]
    immediates = subject.immediates
    if access.has_two_addresses:
        offsets = ("offset0", "offset1")
        pair = offsets if immediates is None else tuple(str(immediates[name]) for name in offsets)
        return f"{_SPACES[access.space]} at {terms[0]} with the offsets {pair[0]} and {pair[1]}"
    offset = "offset" if immediates is None else _number(immediates.get("offset", 0))
    terms += [offset] if offset and (immediates is None or offset != "0" or not terms) else []
    where = " + ".join(terms)
    if access.has_descriptor:
        buffer = roles.get("rsrc") or terms.pop(0)
        return f"the buffer {buffer} at {' + '.join(terms) or 0}"
    return f"{_SPACES[access.space]} at {where.replace('+ -', '- ')}"


def _number(value: int) -> str:
    return str(value) if abs(value) <= 64 else f"{value:#x}"


# The meanings of a kernel's instructions, by address: decoded anew, for views that show them.


def meanings_of(facts: KernelFacts) -> dict[int, str]:
    """Return what each instruction does, as a sentence, without those that the decoder does not
    know. Empty if the facts do not have their code object."""
    if not facts.code_object:
        return {}
    whole = CodeObject.read(facts.code_object)
    found = {}
    sets = instruction_set_in(whole)
    for each in facts.instructions:
        code = whole.text(each.address, each.size)
        try:
            instruction = decode(code, 0, each.address, facts.wave_size, sets)
        except UndecodableInstruction:
            continue
        found[each.address] = meaning(instruction)
    return found


# The operands of an instruction by the letters that phrases have for them.


_READ = "abcms"
_WRITTEN = "de"
# What addresses memory, and is no data.
_ADDRESSES = frozenset({"vaddr", "saddr", "rsrc", "soffset", "sbase", "addr"})
_WORKGROUP = "-1, the workgroup's"


@dataclass(frozen=True, slots=True)
class Named:
    """An opcode with texts for its operands."""

    opcode: Opcode
    names: Mapping[str, str]
    """The text of each operand, by the letter that phrases have for it."""
    roles: Mapping[str, str]
    """By role, "" for an operand that is absent."""
    immediates: Mapping[str, int] | None
    """None if only the opcode is known."""
    target: str
    counters: str
    """The wait counters that count it, in words."""
    returns: bool | None
    """An atomic returns the old value; None if only the opcode is known."""

    def fill(self, phrase: str) -> str:
        """Return a phrase with the operands in their places."""
        return phrase.format_map({**self.names, "target": self.target})

    def reads(self, immediate: str) -> bool:
        """Whether what the instruction waits for is in an immediate."""
        return any(
            field.immediate == immediate and field.mask for field in self.opcode.traits.waits
        )

    def left(self, field: WaitField) -> str:
        """Return how many may be in flight after a wait."""
        if self.immediates is None:
            return "k"
        return str(field.left(self.immediates.get(field.immediate, 0)))


def named(instruction: Instruction) -> Named:
    """Return an instruction with its operands as the assembler writes them."""
    row = row_of(
        _table(instruction.opcode),
        instruction.opcode.code,
        instruction_set=instruction.opcode.instruction_set,
    )
    assert row is not None
    texts = [
        "" if value is None else _operand(row, operand, value, instruction)
        for operand, value in zip(row.operands, instruction.operands, strict=True)
    ]
    opcode = instruction.opcode
    if opcode.traits.barrier is not None:
        texts = [_WORKGROUP if text == "-1" else text for text in texts]
    names = {**_by_letter(opcode, texts), "k": _immediate(instruction)}
    counters = " and ".join(counter.name for counter in effect_of(instruction).counts)
    return Named(
        opcode,
        names,
        roles=_by_role(opcode, texts),
        immediates=instruction.immediates,
        target=_target(instruction),
        counters=counters,
        returns=effect_of(instruction).fills,
    )


def named_by_role(opcode: Opcode) -> Named:
    """Return an opcode with letters for its operands."""
    letters = _letters(opcode)
    counters = opcode.traits.event and _counters(opcode, opcode.traits.event)
    returns = None
    if opcode.traits.memory is not None and not _may_return(opcode):
        returns = opcode.traits.result is not Result.NONE
    return Named(
        opcode,
        {**_by_letter(opcode, letters), "k": "k"},
        roles=_by_role(opcode, letters),
        immediates=None,
        target="its target",
        counters=counters or "",
        returns=returns,
    )


def _may_return(opcode: Opcode) -> bool:
    access = opcode.traits.memory
    return (
        access is not None
        and access.kind is MemoryKind.ATOMIC
        and opcode.traits.event in (WaitEvent.VECTOR_STORE, WaitEvent.FLAT_STORE)
    )


def _counters(opcode: Opcode, event: WaitEvent) -> str:
    counted = opcode.instruction_set.wait_counters.counted
    text = " and ".join(counter.name for counter in counted[event])
    if not _may_return(opcode):
        return text
    loads = WaitEvent.FLAT_LOAD if event is WaitEvent.FLAT_STORE else WaitEvent.VECTOR_LOAD
    returned = " and ".join(counter.name for counter in counted[loads])
    return f"{text}, or on {returned} if it returns the old value"


def _table(opcode: Opcode) -> str:
    return "VOP3" if opcode.encoding == "VOP3SD" else opcode.encoding


def _letters(opcode: Opcode) -> list[str]:
    """Return letters for registers and data, roles for addresses."""
    letters = []
    written, read = iter(_WRITTEN), iter(_READ)
    for operand in opcode.operands:
        if operand.role in _ADDRESSES and not _is_data(opcode, operand.role):
            letters.append(operand.role)
        else:
            letters.append(next(written if operand.written else read))
    return letters


def _is_data(opcode: Opcode, role: str) -> bool:
    """Lane permutations have lane numbers, or data, where others have an address."""
    return role == "addr" and opcode.traits.memory is None


def _by_letter(opcode: Opcode, texts: list[str]) -> dict[str, str]:
    names = dict(zip(_letters(opcode), texts, strict=True))
    # An atomic on a buffer reads and writes one operand.
    names.setdefault("a", names.get("d", ""))
    names["m"] = names.get("m", "mem") if opcode.traits.memory is None else "mem"
    return names


def _by_role(opcode: Opcode, texts: list[str]) -> dict[str, str]:
    return {spec.role: text for spec, text in zip(opcode.operands, texts, strict=True)}


def _operand(row: Row, operand: OperandRow, value: Operand, instruction: Instruction) -> str:
    text = operand_text(
        value, operand.constants, operand.half and getattr(value, "half", None) == 1
    )
    signed = row.format.name != "VOP3P" or row.has("mix")
    if operand.source not in (0, 1, 2) or operand.spec.type == "mask" or not signed:
        return text
    bit = 1 << operand.source
    modifiers = instruction.modifiers
    constant = isinstance(value, InlineConstant | Literal)
    return negated(text, constant, bool(modifiers.neg & bit), bool(modifiers.abs & bit))


def _target(instruction: Instruction) -> str:
    offset = instruction.immediates.get("simm16")
    if offset is None:
        return ""
    signed = (offset & 0xFFFF ^ 0x8000) - 0x8000
    return f"{instruction.pc + instruction.size + 4 * signed:#x}"


def _immediate(instruction: Instruction) -> str:
    """Return the constant of a scalar or LDS instruction, as the assembler writes it."""
    immediates, kind = instruction.immediates, instruction.traits.immediate
    if "message" in immediates:
        return message_text(immediates["message"], instruction.opcode.instruction_set)
    if kind is Immediate.SWIZZLE:
        return swizzle_text(immediates["offset"]).strip().removeprefix("offset:") or "0"
    if kind is Immediate.ATTRIBUTE:
        return f"attr{immediates['attr']}.{'xyzw'[immediates['attr_chan']]}"
    value = immediates.get("simm16")
    return "" if value is None else _short_constant(instruction, value)


def _short_constant(instruction: Instruction, value: int) -> str:
    kind, sets = instruction.traits.immediate, instruction.opcode.instruction_set
    if instruction.traits.barrier is not None and value & 0xFFFF == 0xFFFF:
        return _WORKGROUP
    if kind is Immediate.HARDWARE_REGISTER:
        return hardware_register_text(value & 0xFFFF, sets.hardware_registers)
    if kind is Immediate.VERSION:
        return version_text(value & 0xFFFF)
    if kind is Immediate.SIGNED:
        return str((value & 0xFFFF ^ 0x8000) - 0x8000)
    is_plain = kind in (Immediate.BITS, Immediate.CLAUSE)
    return short_text(value) if is_plain else program_text(kind, value, sets)
