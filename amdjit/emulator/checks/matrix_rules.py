"""How undefined values pass through WMMA and SWMMAC: by row of A and column of B.

Lane n holds row n % 16 of A and column n % 16 of B and of the result, whose rows lie in the registers of one lane,
those of lanes 16 to 31 eight rows behind (AMD matrix instruction calculator; RDNA 4 ISA, 7.12).
"""

from __future__ import annotations

from amdjit.emulator.checks.shadow_operands import Shadow
from amdjit.emulator.checks.shadow_registers import ONES, ZERO, Halves
from amdjit.emulator.decoder.instruction import Instruction, Operand, Register, RegisterFile
from amdjit.emulator.ir import Builder, Value, constant


def apply_matrix(shadow: Shadow, instruction: Instruction, seen: Value | None) -> None:
    """Write the shadow of a matrix instruction's result; EXEC does not count.

    seen: an i1, whether anything undefined was met; where not, all shadows are 0, and none is read. None: perhaps.
    """
    target = instruction.operands[0]
    assert isinstance(target, Register)
    b = shadow.frame.builder
    if seen is None:
        new = _results(shadow, instruction, target)
    else:
        name = f"matrix.{b.name()[1:]}"
        for line in (f"br label %{name}.start", f"{name}.start:"):
            b.line(line)
        b.branch_if(seen, name, f"{name}.done")
        b.label(name)
        with shadow.registers.aside():
            new = _results(shadow, instruction, target)
        b.branch(f"{name}.done")
        b.label(f"{name}.done")
        new = [tuple(_joined(b, mask, name) for mask in halves) for halves in new]  # type: ignore[misc]
    for part, halves in enumerate(new):
        shadow.registers.write_vector(target.index + part, halves, ONES)


def _joined(builder: Builder, mask: Value, name: str) -> Value:
    if mask == ZERO:
        return ZERO
    return builder.emit("i32", f"phi i32 [ 0, %{name}.start ], [ {mask.text}, %{name} ]")


def _results(shadow: Shadow, instruction: Instruction, target: Register) -> list[Halves]:
    rows = _folded(shadow, instruction.operands[1])
    columns = _both_halves(shadow, _folded(shadow, instruction.operands[2]))
    sparse = instruction.mnemonic.startswith("v_swmmac")
    if sparse:
        rows = shadow.masks.either(rows, _folded(shadow, instruction.operands[3]))
    addend = target if sparse else instruction.operands[3]
    packed = target.dwords == 4
    new: list[Halves] = []
    for part in range(target.dwords):
        old = _addend(shadow, addend, part)
        both = [_row(shadow, rows, 2 * part + half if packed else part) for half in (0, 1)]
        low, high = (shadow.masks.either(columns, row, c) for row, c in zip(both, old, strict=True))
        new.append((low, high) if packed else (shadow.masks.either(low, high),) * 2)
    return new


def _addend(shadow: Shadow, operand: Operand | None, part: int) -> Halves:
    if isinstance(operand, Register) and operand.file is RegisterFile.VGPR:
        return shadow.registers.vector(operand.index + part)
    return ZERO, ZERO


def _folded(shadow: Shadow, operand: Operand | None) -> Value:
    """Return a mask of 16 rows, or columns, in which anything is undefined."""
    if not isinstance(operand, Register) or operand.file is not RegisterFile.VGPR:
        return ZERO
    mask = shadow.whole(operand)
    if mask == ZERO:
        return ZERO
    b = shadow.frame.builder
    return b.mask(b.or_(mask, b.shift("lshr", mask, 16)), 16)


def _both_halves(shadow: Shadow, mask: Value) -> Value:
    return ZERO if mask == ZERO else shadow.frame.builder.mul(mask, constant("i32", 0x10001))


def _row(shadow: Shadow, rows: Value, number: int) -> Value:
    """Return the lanes that hold an undefined row in the register of row `number`: 16 lanes each."""
    if rows == ZERO:
        return ZERO
    b = shadow.frame.builder
    lower = b.mask(b.shift("lshr", rows, number), 1)
    upper = b.mask(b.shift("lshr", rows, number + 8), 1)
    upper = b.mul(upper, constant("i32", 0xFFFF0000))
    return b.or_(b.mul(lower, constant("i32", 0xFFFF)), upper)
