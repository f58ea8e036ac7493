"""The variables of debug information, with the places where they are from one address to another.

before: a DW_TAG_variable with a location list
after:  `total: f32` is in `v3` from 0x1600 to 0x1640, in `v[4:7]` to 0x1680
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from amdjit.code_object.bytes_reader import BytesReader, MalformedCodeObject
from amdjit.code_object.dwarf_entries import Attribute, Entry, Stored, Tag
from amdjit.code_object.dwarf_unit import BLOCK_FORMS, Unit
from amdjit.late_methods import dataclass, field

__all__ = [
    "Location",
    "Register",
    "Variable",
    "VariablePiece",
    "VariableReader",
    "read_location",
    "register",
    "register_text",
]


_VARIABLES = (Tag.FORMAL_PARAMETER, Tag.VARIABLE)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable at an address."""

    name: str
    type: str
    """As the debug information calls it, "void" if it names none."""
    registers: str
    """The registers that hold it, as the assembler writes them, such as `v[4:7]`; a number if it is
    constant there; `scratch[fp + 8]` in memory; an expression if it can be computed."""
    function: str = ""
    """The function in which it is declared."""
    vgprs: frozenset[int] = frozenset()
    """The numbers of the VGPRs that hold it."""
    sgprs: frozenset[int] = frozenset()
    """The numbers of the SGPRs that hold it."""


@dataclass(frozen=True, slots=True)
class VariablePiece:
    """A variable from an address to the one after the last."""

    start: int
    end: int
    variable: Variable


@dataclass(frozen=True)
class VariableReader:
    """Reads the variables of one unit. What many of them share is read once."""

    unit: Unit
    _types: dict[int, str] = field(default_factory=dict)
    _locations: dict[bytes, Location] = field(default_factory=dict)

    def read(
        self, entry: Entry, ranges: tuple[tuple[int, int], ...], function: str
    ) -> Iterator[VariablePiece]:
        """Yield the pieces of a variable, none if the entry is something else. ranges, function:
        the addresses and the name of the scope in which it stands."""
        if entry.tag not in _VARIABLES:
            return
        places = list(self._places(entry, ranges))
        if not places:
            return
        name, declared_type = self.unit.name(entry), self.type_of(entry)
        for start, end, location in places:
            if location.text and start < end:
                registers = location.registers
                yield VariablePiece(
                    start,
                    end,
                    Variable(
                        name,
                        declared_type,
                        registers=location.text,
                        function=function,
                        vgprs=frozenset(r.number for r in registers if r.bank == "v"),
                        sgprs=frozenset(r.number for r in registers if r.bank == "s"),
                    ),
                )

    def _places(
        self, entry: Entry, ranges: tuple[tuple[int, int], ...]
    ) -> Iterator[tuple[int, int, Location]]:
        constant = entry.attributes.get(Attribute.CONST_VALUE)
        stored = entry.attributes.get(Attribute.LOCATION)
        if stored is None and constant is not None:
            location = Location(_constant_text(constant))
            yield from ((start, end, location) for start, end in ranges)
        elif stored is not None and isinstance(stored.value, bytes):
            if stored.form in BLOCK_FORMS:
                location = self._location(stored.value)
                yield from ((start, end, location) for start, end in ranges)
        elif stored is not None:
            for start, end, expression in self.unit.locations(stored):
                yield start, end, self._location(expression)

    def _location(self, expression: bytes) -> Location:
        location = self._locations.get(expression)
        if location is None:
            location = self._locations[expression] = read_location(expression)
        return location

    def type_of(self, entry: Entry) -> str:
        holder: Entry | None = self.unit.origin_with(entry, Attribute.TYPE)
        kind = self.unit.reference(holder, Attribute.TYPE) if holder is not None else None
        if kind is None:
            return ""
        if kind.offset not in self._types:
            self._types[kind.offset] = type_name(self.unit, kind)
        return self._types[kind.offset]


def _constant_text(stored: Stored) -> str:
    value = stored.value
    return str(value if isinstance(value, int) else int.from_bytes(value, "little"))


# The names of types in debug information, as C writes them where the type has no name itself.

# No type that a person wrote is nested as deeply; broken entries may refer to each other in a
# circle.
_DEEPEST = 16
_POINTERS = {Tag.POINTER_TYPE: "*", Tag.REFERENCE_TYPE: "&", Tag.RVALUE_REFERENCE_TYPE: "&&"}
_QUALIFIERS = {
    Tag.CONST_TYPE: "const",
    Tag.VOLATILE_TYPE: "volatile",
    Tag.RESTRICT_TYPE: "restrict",
    Tag.ATOMIC_TYPE: "_Atomic",
}
_KINDS = {Tag.STRUCTURE_TYPE: "struct", Tag.UNION_TYPE: "union", Tag.SUBROUTINE_TYPE: "function"}


def type_name(unit: Unit, entry: Entry | None, depth: int = 0) -> str:
    """Return the name of a type, "void" without one, "" if it is not known."""
    if entry is None:
        return "void"
    name = unit.text(entry, Attribute.NAME)
    if name or depth > _DEEPEST:
        return name
    inner = unit.reference(entry, Attribute.TYPE)
    if entry.tag in _KINDS:
        return _KINDS[entry.tag]
    if entry.tag in _POINTERS:
        pointed = type_name(unit, inner, depth + 1)
        return f"{pointed}{'' if pointed.endswith(('*', '&')) else ' '}{_POINTERS[entry.tag]}"
    if entry.tag in _QUALIFIERS:
        return f"{_QUALIFIERS[entry.tag]} {type_name(unit, inner, depth + 1)}"
    if entry.tag == Tag.ARRAY_TYPE:
        return type_name(unit, inner, depth + 1) + "".join(
            f"[{extent}]" for extent in _extents(unit, entry)
        )
    return ""


def _extents(unit: Unit, array: Entry) -> list[str]:
    """Return the extents of an array's axes, "" where one is not known."""
    extents: list[str] = []
    for child in array.children:
        if child.tag == Tag.SUBRANGE_TYPE:
            count = unit.number(child, Attribute.COUNT)
            last = unit.number(child, Attribute.UPPER_BOUND)
            if count is None and last is not None:
                count = last + 1
            extents.append("" if count is None else str(count))
    return extents


# Where a variable is, from its location expression: registers, a constant, memory, or a value that
# is computed from these.
#
# before: `DW_OP_regx SGPR4, DW_OP_piece 4, DW_OP_regx SGPR5, DW_OP_piece 4` after:  `s[4:5]`


# The operations of DWARF expressions: bytes to numbers.
#
# Section numbers in comments are those of the DWARF 5 standard.

# A limit far beyond real expressions, which have a few operations.
_MOST_OPERATIONS = 256


class Code(IntEnum):
    """Operations that are evaluated (7.7.1, table 7.9), and some that have names only."""

    ADDRESS = 0x03
    CONST1U = 0x08
    CONSTU = 0x10
    CONSTS = 0x11
    SWAP = 0x16
    XDEREFERENCE = 0x18
    AND = 0x1A
    DIVIDE = 0x1B
    MINUS = 0x1C
    MODULO = 0x1D
    MULTIPLY = 0x1E
    NEGATE = 0x1F
    NOT = 0x20
    OR = 0x21
    PLUS = 0x22
    PLUS_CONSTANT = 0x23
    SHIFT_LEFT = 0x24
    SHIFT_RIGHT = 0x25
    SHIFT_RIGHT_ARITHMETIC = 0x26
    XOR = 0x27
    LITERAL0 = 0x30
    REGISTER0 = 0x50
    REGISTER = 0x90
    FRAME_BASE = 0x91
    REGISTER_PLUS = 0x92
    REGISTER0_PLUS = 0x70
    PIECE = 0x93
    BIT_PIECE = 0x9D
    IMPLICIT_VALUE = 0x9E
    STACK_VALUE = 0x9F
    CONVERT = 0xA8


class Operation(NamedTuple):
    """An operation. A literal or a register of the opcode itself is its operand."""

    code: int
    operands: tuple[int, ...] = ()


# Operands by opcode: a number of bytes, negative if signed; "u" and "s" for LEB128; "b" for a block
# with its size before it. Those from 0xe1 are LLVM's (LLVM AMDGPU guide, "DWARF Extensions For
# Heterogeneous Debugging", Operation Encodings).
_Kind = int | str
_SIZES: dict[int, tuple[_Kind, ...]] = {
    0x03: (8,),
    0x08: (1,),
    0x09: (-1,),
    0x0A: (2,),
    0x0B: (-2,),
    0x0C: (4,),
    0x0D: (-4,),
    0x0E: (8,),
    0x0F: (-8,),
    0x10: ("u",),
    0x11: ("s",),
    0x15: (1,),
    0x23: ("u",),
    0x28: (-2,),
    0x2F: (-2,),
    0x90: ("u",),
    0x91: ("s",),
    0x92: ("u", "s"),
    0x93: ("u",),
    0x94: (1,),
    0x95: (1,),
    0x9D: ("u", "u"),
    0x9E: ("b",),
    0xA1: ("u",),
    0xA2: ("u",),
    0xA3: ("b",),
    0xA8: ("u",),
    0xA9: ("u",),
    0xE4: ("u",),
    0xE6: ("u",),
    0xE8: ("u", "s"),
    0xEB: ("u", "u"),
    0xEC: ("u", "u"),
}
_WITHOUT_OPERANDS = frozenset(
    (
        *(0x06, *range(0x12, 0x15), *range(0x16, 0x23), *range(0x24, 0x28), *range(0x29, 0x2F)),
        *(0x96, 0x97, 0x9B, 0x9C, 0x9F, 0xE1, 0xE2, 0xE3, 0xE5, 0xE7, 0xEA),
    )
)


def read_operations(expression: bytes) -> list[Operation] | None:
    """Return the operations of an expression, None if one of them is unknown, which ends what can
    be read; MalformedCodeObject if the bytes end within an operation."""
    reader = BytesReader(expression, 0, len(expression), "DWARF expression")
    operations: list[Operation] = []
    while not reader.exhausted:
        code = reader.unsigned(1)
        operation = _of_opcode(code, reader)
        if operation is None:
            kinds = _SIZES.get(code)
            if kinds is None and code not in _WITHOUT_OPERANDS:
                return None
            operation = Operation(code, tuple(_operand(reader, kind) for kind in kinds or ()))
        operations.append(operation)
        if len(operations) > _MOST_OPERATIONS:
            raise MalformedCodeObject(f"a DWARF expression of more than {_MOST_OPERATIONS}")
    return operations


def _of_opcode(code: int, reader: BytesReader) -> Operation | None:
    """Return an operation whose opcode holds a number, as one that has it as an operand."""
    if Code.LITERAL0 <= code < Code.LITERAL0 + 32:
        return Operation(Code.CONSTU, (code - Code.LITERAL0,))
    if Code.REGISTER0 <= code < Code.REGISTER0 + 32:
        return Operation(Code.REGISTER, (code - Code.REGISTER0,))
    if Code.REGISTER0_PLUS <= code < Code.REGISTER0_PLUS + 32:
        return Operation(Code.REGISTER_PLUS, (code - Code.REGISTER0_PLUS, reader.sleb()))
    if Code.CONST1U <= code < Code.CONSTU:
        kind = _SIZES[code][0]
        return Operation(Code.CONSTS, (_operand(reader, kind),))
    return None


def _operand(reader: BytesReader, kind: _Kind) -> int:
    if kind == "u":
        return reader.uleb()
    if kind == "s":
        return reader.sleb()
    if isinstance(kind, int):
        return reader.signed(-kind) if kind < 0 else reader.unsigned(kind)
    return int.from_bytes(reader.take(reader.uleb()), "little")


# The registers of AMDGPU by their numbers in DWARF (LLVM AMDGPU guide, "Register Identifier").


class Register(NamedTuple):
    """A register. bank: "v", "s", "a", or the name of a register that has no number."""

    bank: str
    number: int = 0


# The first number in DWARF, the bank, its first register, and how many: vector registers have
# numbers of their own in waves of 64 lanes.
_BANKS = (
    (32, "s", 0, 64),
    (1088, "s", 64, 42),
    (1536, "v", 0, 256),
    (2048, "a", 0, 256),
    (2560, "v", 0, 256),
    (3072, "a", 0, 256),
)
_NAMED = {1: "exec", 16: "pc", 17: "exec", 128: "status", 768: "vcc", 769: "vcc"}


def register(number: int) -> Register:
    """Return the register of a number in DWARF."""
    for first, bank, start, count in _BANKS:
        if first <= number < first + count:
            return Register(bank, start + number - first)
    return Register(_NAMED.get(number, f"register {number}"))


def register_text(registers: Sequence[Register]) -> str:
    """Return registers as the assembler writes them, `v[4:7]` for neighbours."""
    runs: list[list[Register]] = []
    for one in registers:
        last = runs[-1][-1] if runs else None
        if last is not None and len(one.bank) == 1 and one == (last.bank, last.number + 1):
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(map(_run_text, runs))


def _run_text(run: list[Register]) -> str:
    first, last = run[0], run[-1]
    if len(first.bank) > 1:
        return first.bank
    if first is last:
        return f"{first.bank}{first.number}"
    return f"{first.bank}[{first.number}:{last.number}]"


_BINARY = {
    Code.AND: "&",
    Code.DIVIDE: "/",
    Code.MINUS: "-",
    Code.MODULO: "%",
    Code.MULTIPLY: "*",
    Code.OR: "|",
    Code.PLUS: "+",
    Code.SHIFT_LEFT: "<<",
    Code.SHIFT_RIGHT: ">>",
    Code.SHIFT_RIGHT_ARITHMETIC: ">>",
    Code.XOR: "^",
}
_UNARY = {Code.NEGATE: "-", Code.NOT: "~"}
# clang describes every local variable as one of private memory. Where the optimiser has put it in
# a register, the end of the expression still says so.
_AS_PRIVATE = [Operation(Code.CONSTU, (1,)), Operation(Code.SWAP), Operation(Code.XDEREFERENCE)]
_LONGEST_TEXT = 120


@dataclass(frozen=True, slots=True)
class Location:
    """Where a value is. text: registers as the assembler writes them, such as `v[4:7]` or `s3`; a
    number for a constant; `scratch[fp + 8]` for memory; an expression of these; "" if it is nowhere
    or not understood. registers: those that must keep their values for it."""

    text: str
    registers: frozenset[Register] = frozenset()


@dataclass(frozen=True, slots=True)
class _Value:
    """A value on the expression's stack. simple: whether its text needs no parentheses."""

    text: str
    registers: frozenset[Register] = frozenset()
    simple: bool = True

    @property
    def inner(self) -> str:
        return self.text if self.simple else f"({self.text})"


_NOWHERE = Location("")
# A part of a value: registers that hold it, or another place.
_Part = Register | Location


def read_location(expression: bytes) -> Location:
    """Return what a location expression says; MalformedCodeObject if its bytes are broken."""
    operations = read_operations(expression)
    if operations is None:
        return _NOWHERE
    parts: list[_Part] = []
    part: list[Operation] = []
    for operation in operations:
        if operation.code in (Code.PIECE, Code.BIT_PIECE):
            parts.append(_place(part))
            part = []
        else:
            part.append(operation)
    if part or not parts:
        parts.append(_place(part))
    return _composed(parts)


def _composed(parts: list[_Part]) -> Location:
    """Return the parts of a value as one location. Parts that are nowhere are shown as `?`."""
    texts: list[str] = []
    run: list[Register] = []
    registers: set[Register] = set()
    for part in parts:
        if isinstance(part, Register):
            run.append(part)
            registers.add(part)
            continue
        texts += [register_text(run)] if run else []
        run = []
        texts.append(part.text or "?")
        registers |= part.registers
    texts += [register_text(run)] if run else []
    if set(texts) == {"?"}:
        return _NOWHERE
    return Location(", ".join(texts), frozenset(registers))


def _place(operations: list[Operation]) -> _Part:
    """Return where one part of a value is."""
    operations = list(operations)
    is_value = bool(operations) and operations[-1].code == Code.STACK_VALUE
    if is_value:
        operations.pop()
    called_private = operations[-3:] == _AS_PRIVATE
    if called_private:
        del operations[-3:]
    if len(operations) == 1:
        code, operands = operations[0]
        if code == Code.REGISTER:
            return register(operands[0])
        if code == Code.REGISTER_PLUS and operands[1] == 0 and (called_private or is_value):
            return register(operands[0])
        if code == Code.IMPLICIT_VALUE:
            return Location(str(operands[0]))
    value = _evaluated(operations)
    if value is None or len(value.text) > _LONGEST_TEXT:
        return _NOWHERE
    in_memory = not is_value and any(
        operation.code in (Code.FRAME_BASE, Code.REGISTER_PLUS) for operation in operations
    )
    return Location(f"scratch[{value.text}]" if in_memory else value.text, value.registers)


def _evaluated(operations: list[Operation]) -> _Value | None:
    """Return the value on top of the stack, None if an operation is not understood."""
    stack: list[_Value] = []
    for operation in operations:
        if operation.code in _BINARY:
            if len(stack) < 2:
                return None
            right, left = stack.pop(), stack.pop()
            stack.append(_joined(left, _BINARY[Code(operation.code)], right))
        elif operation.code in _UNARY or operation.code == Code.PLUS_CONSTANT:
            if not stack:
                return None
            stack.append(_changed(stack.pop(), operation))
        elif operation.code != Code.CONVERT:  # which changes the type only
            value = _pushed(operation)
            if value is None:
                return None
            stack.append(value)
    return stack[-1] if stack else None


def _pushed(operation: Operation) -> _Value | None:
    code, operands = operation
    if code in (Code.CONSTU, Code.CONSTS):
        return _Value(str(operands[0]))
    if code == Code.FRAME_BASE:
        return _sum("fp", operands[0])
    if code == Code.REGISTER_PLUS:
        base = register(operands[0])
        return _sum(register_text([base]), operands[1], frozenset([base]))
    return None


def _changed(value: _Value, operation: Operation) -> _Value:
    if operation.code == Code.PLUS_CONSTANT:
        return _sum(value.inner, operation.operands[0], value.registers)
    return _Value(_UNARY[Code(operation.code)] + value.inner, value.registers, simple=False)


def _joined(left: _Value, sign: str, right: _Value) -> _Value:
    registers = left.registers | right.registers
    return _Value(f"{left.inner} {sign} {right.inner}", registers, simple=False)


def _sum(base: str, offset: int, registers: frozenset[Register] = frozenset()) -> _Value:
    if offset == 0:
        return _Value(base, registers)
    return _Value(f"{base} {'+' if offset > 0 else '-'} {abs(offset)}", registers, simple=False)
