"""Where a variable is, from its location expression: registers, a constant, memory, or a value that
is computed from these.

before: `DW_OP_regx SGPR4, DW_OP_piece 4, DW_OP_regx SGPR5, DW_OP_piece 4`
after:  `s[4:5]`
"""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.code_object.dwarf_operations import Code, Operation, read_operations
from amdjit.code_object.dwarf_registers import Register, register, register_text

__all__ = ["Location", "read_location"]

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
