"""Operands in one bank of the VGPR file, where a rule says what that costs.

A VGPR's bank is its number modulo 4. Rules are known for two kinds of instructions on gfx12; for
others, what RDNA 1 did (LLVM, GCNRegBankReassign) is not known to hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amdjit.inspection.facts import RegisterBanks
from amdjit.isa.instruction import Instruction, Register, RegisterFile
from amdjit.isa.traits import Arithmetic

__all__ = ["register_banks"]

_BANKS = 4
_SOURCES = ("src0", "src1", "src2")
_WMMA = (
    "In the trace custom_wmma_simple of a gfx1201, independent v_wmma_f32_16x16x16_f16 whose A, B "
    "and C begin in one bank start every 16 cycles, as fast as any. On gfx1151 they take 34 cycles "
    "rather than 32 (llvm/llvm-project issue 204254)."
)
_DUAL = (
    'RDNA 4 ISA, 7.6 "Dual issue": the halves\' first sources are in different banks, so are the '
    "second ones; two v_dual_mov_b32 are exempt (LLVM: checkVOPDRegConstraints). Others are not "
    "legal."
)


def register_banks(instructions: Iterable[Instruction]) -> tuple[RegisterBanks, ...]:
    """Return the instructions with operands in one bank, by kind; kinds that the kernel does not
    have are left out. Instructions of gfx12."""
    listed = list(instructions)
    products = [item for item in listed if item.traits.matrix is not None]
    pairs = [item for item in listed if item.pair is not None]
    found = []
    if products:
        shared = tuple(item.pc for item in products if _meet(_first_banks(item)))
        found.append(RegisterBanks("WMMA", len(products), shared, 0, _WMMA))
    if pairs:
        shared = tuple(item.pc for item in pairs if _halves_meet(item))
        found.append(RegisterBanks("VOPD", len(pairs), shared, None, _DUAL))
    return tuple(found)


def _vectors(instruction: Instruction) -> Iterator[tuple[str, Register]]:
    for spec, operand in zip(instruction.opcode.operands, instruction.operands, strict=True):
        if isinstance(operand, Register) and operand.file is RegisterFile.VGPR:
            yield spec.role, operand


def _first_banks(instruction: Instruction) -> list[int]:
    """Return the banks in which A, B and C begin. A sparse product's C is where its D is."""
    matrix = instruction.traits.matrix
    assert matrix is not None
    roles = ("src0", "src1", "vdst") if matrix.sparse else _SOURCES
    return [register.index % _BANKS for role, register in _vectors(instruction) if role in roles]


def _meet(banks: list[int]) -> bool:
    return len(set(banks)) < len(banks)


def _halves_meet(instruction: Instruction) -> bool:
    pair = instruction.pair
    assert pair is not None
    if instruction.traits.arithmetic is pair.traits.arithmetic is Arithmetic.MOVE:
        return False
    x, y = dict(_vectors(instruction)), dict(_vectors(pair))
    return any(
        x[role].index % _BANKS == y[role].index % _BANKS
        for role in _SOURCES
        if role in x and role in y
    )
