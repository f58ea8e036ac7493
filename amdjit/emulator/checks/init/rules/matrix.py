"""How undefined values pass through WMMA and SWMMAC: by row of A and column of B.
Those of MFMA are in `block_products`.

Lane n holds row n % 16 of A, and column n % 16 of B and of the result. The registers of a lane hold
rows of the result: those of lanes 16 to 31 begin at row 8. In wave64 a lane has half as many, and
those of lanes 32 to 63 begin four rows later (AMD matrix instruction calculator; RDNA 4 ISA, 7.12).
"""

from __future__ import annotations

from amdjit.emulator.checks.init.operands import Shadow
from amdjit.emulator.checks.init.registers import ONES, ZERO, Halves
from amdjit.emulator.checks.init.rules.block_products import block_results
from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.instructions.matrix.wmma import matrix_of
from amdjit.emulator.instructions.whole_waves import in_each_half
from amdjit.isa.instruction import Instruction, Operand, Register
from amdjit.isa.register_numbers import is_vector, vector_number


def apply_matrix(shadow: Shadow, instruction: Instruction, seen: Value | None) -> None:
    """Write the shadow of a matrix instruction's result; EXEC does not count.

    seen: an i1, whether anything undefined has been met. If not, all shadows are 0, and none is
    read. None if that is not known.
    """
    results = _results if instruction.traits.matrix is not None else block_results
    target = instruction.operands[0]
    assert isinstance(target, Register)
    b = shadow.frame.builder
    if seen is None:
        new = results(shadow, instruction, target)
    else:
        name = f"matrix.{b.name()[1:]}"
        for line in (f"br label %{name}.start", f"{name}.start:"):
            b.line(line)
        b.branch_if(seen, name, f"{name}.done")
        b.label(name)
        with shadow.registers.aside():
            new = results(shadow, instruction, target)
        b.branch(f"{name}.done")
        b.label(f"{name}.done")
        new = [
            [(_joined(b, low, name), _joined(b, high, name)) for low, high in half] for half in new
        ]
    for half, parts in enumerate(new):
        shadow.frame.registers.select_half(half)
        for part, halves in enumerate(parts):
            shadow.registers.write_vector(vector_number(target) + part, halves, ONES)
    shadow.frame.registers.select_half(0)


def _joined(builder: Builder, mask: Value, name: str) -> Value:
    if mask == ZERO:
        return ZERO
    return builder.emit("i32", f"phi i32 [ 0, %{name}.start ], [ {mask.text}, %{name} ]")


def _results(shadow: Shadow, instruction: Instruction, target: Register) -> list[list[Halves]]:
    """Return the shadows of the result's registers, for each half of the wave."""
    matrix = matrix_of(shadow.frame, instruction)
    rows = _folded(shadow, instruction.operands[1], matrix.factor_rows("a"))
    columns = _both_halves(
        shadow, _folded(shadow, instruction.operands[2], matrix.factor_rows("b"))
    )
    if matrix.sparse:
        rows = shadow.masks.either(rows, _folded(shadow, instruction.operands[3], matrix.rows))
    addend = target if matrix.sparse else instruction.operands[3]
    packed = matrix.result in ("f16", "bf16")
    registers = shadow.frame.registers
    new: list[list[Halves]] = []
    for half in range(registers.halves):
        registers.select_half(half)
        new.append([])
        for part in range(target.dwords):
            old = _addend(shadow, addend, part)
            first = 4 * half + (2 * part if packed else part)
            low, high = (
                shadow.masks.either(columns, _row(shadow, rows, number), c)
                for number, c in zip((first, first + packed), old, strict=True)
            )
            new[half].append((low, high) if packed else (shadow.masks.either(low, high),) * 2)
    registers.select_half(0)
    return new


def _addend(shadow: Shadow, operand: Operand | None, part: int) -> Halves:
    if is_vector(operand):
        return shadow.registers.vector(vector_number(operand) + part)
    return ZERO, ZERO


def _folded(shadow: Shadow, operand: Operand | None, held: range) -> Value:
    """Return a mask of the 16 rows, or columns, in which anything is undefined. held: the rows of
    16 lanes that count."""
    if not is_vector(operand):
        return ZERO
    halves = in_each_half(shadow.frame, lambda: shadow.whole(operand))
    mask = shadow.masks.either(*halves[: len(held) // 2])
    if mask == ZERO:
        return ZERO
    b = shadow.frame.builder
    return b.mask(b.or_(mask, b.shift("lshr", mask, 16)), 16)


def _both_halves(shadow: Shadow, mask: Value) -> Value:
    return ZERO if mask == ZERO else shadow.frame.builder.mul(mask, constant("i32", 0x10001))


def _row(shadow: Shadow, rows: Value, number: int) -> Value:
    """Return the lanes that hold an undefined row in the register of row `number`: 16 lanes
    each."""
    if rows == ZERO:
        return ZERO
    b = shadow.frame.builder
    lower = b.mask(b.shift("lshr", rows, number), 1)
    upper = b.mask(b.shift("lshr", rows, number + 8), 1)
    upper = b.mul(upper, constant("i32", 0xFFFF0000))
    return b.or_(b.mul(lower, constant("i32", 0xFFFF)), upper)
