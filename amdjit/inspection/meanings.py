"""What an instruction does, in one sentence.

Generated from its opcode's traits, operands and phrase (`isa.mnemonics`), and from the
operands and modifiers that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from amdjit.inspection.memory_meanings import memory_body
from amdjit.inspection.named_operands import Named, named, named_by_role
from amdjit.isa.instruction import Instruction, Modifiers, Opcode
from amdjit.isa.matrix_products import BlockProduct, MatrixProduct
from amdjit.isa.mnemonics import phrase_of
from amdjit.isa.text import dpp_text
from amdjit.isa.traits import Destination as LogicDestination
from amdjit.isa.traits import (
    Flag,
    Operator,
    Result,
    ScalarLogic,
    Traits,
    Unit,
)

__all__ = ["meaning", "opcode_meaning"]

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
