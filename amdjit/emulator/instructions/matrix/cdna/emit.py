"""The emitters of MFMA and SMFMAC: native functions work on the registers in the wave's state. EXEC
does not count (CDNA 3 ISA, 7.1).

What `cbsz`, `abid` and `blgp` mean: CDNA 3 ISA, 7.1.4; AMD's matrix instruction calculator. Values
that an instruction has not are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import i64
from amdjit.emulator.instructions.matrix.cdna.products import (
    BITS,
    GENERATIONS,
    ROWS,
    WAVE_LANES,
    Mfma,
    products,
)
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.whole_waves import in_each_half, matrix_register
from amdjit.emulator.layout import VGPR_BYTES
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import constant_bits
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import InlineConstant, Instruction, Register
from amdjit.isa.register_numbers import vector_number

_BYTE_FLOATS = ("fp8", "bf8")
# Types that operands choose (`scaled.py`); where elements lie does not depend on them but for k.
_CHOSEN = "f8f6f4"


def product_of(instruction: Instruction) -> Mfma:
    """Return the product that an instruction computes."""
    shape = instruction.traits.block_product
    assert shape is not None
    family = instruction.opcode.instruction_set.name
    suffix = "_fnuz" if family == "gfx942" else ""
    a, b = (each + suffix if each in _BYTE_FLOATS else each for each in (shape.a, shape.b))
    if shape.a == _CHOSEN:
        return Mfma(GENERATIONS[family], shape.result, a="fp4", b="fp4", m=shape.m, k=shape.k)
    held = shape.k // 2 if shape.sparse else shape.k
    elements = matrix_register(instruction, 1).dwords * 32 // BITS[a]
    blocks = WAVE_LANES * elements // (shape.m * held)
    generation = GENERATIONS[family]
    return Mfma(
        generation, shape.result, a=a, b=b, m=shape.m, k=shape.k, blocks=blocks, sparse=shape.sparse
    )


def negates(product: Mfma) -> bool:
    """Return whether the bits of blgp negate A, B and C: of f64, where gfx90a has no blgp."""
    return product.is_double and product.generation != "cdna2"


def _emit(frame: Frame, instruction: Instruction) -> None:
    product = product_of(instruction)
    _check(instruction, product)
    target = matrix_register(instruction, 0)
    places = in_each_half(frame, lambda: frame.registers.vector_slot(vector_number(target)))
    a, b = (pointers(frame, matrix_register(instruction, index)) for index in (1, 2))
    if product.sparse:
        index = pointers(frame, matrix_register(instruction, 3))
        sources, controls = [*a, *b, *pointers(frame, target), *index], [_set(instruction)]
        stride = stride_of(product)
    else:
        addend, stride = addend_of(frame, instruction, product)
        sources, controls = [*a, *b, *addend], _controls(instruction, product)
    values = [constant("i32", each) for each in controls]
    frame.native_void(product.symbol, [*places, *sources, i64(stride), *values])
    for half in range(frame.registers.halves):
        frame.registers.select_half(half)
        frame.registers.forget_vectors(vector_number(target), target.dwords)
    frame.registers.select_half(0)


def pointers(frame: Frame, register: Register) -> list[Value]:
    """Return the addresses of a register's halves."""

    def pointer() -> Value:
        frame.registers.flush_vectors(vector_number(register), register.dwords)
        return frame.registers.vector_slot(vector_number(register))

    return in_each_half(frame, pointer)


def stride_of(product: Mfma) -> int:
    return VGPR_BYTES * (2 if product.is_double else 1)


def addend_of(frame: Frame, instruction: Instruction, product: Mfma) -> tuple[list[Value], int]:
    """Return the addresses of C, and the bytes from one element to the next: none if it is a
    constant."""
    operand = instruction.operands[3]
    if not isinstance(operand, InlineConstant):
        return pointers(frame, matrix_register(instruction, 3)), stride_of(product)
    if product.generation == "cdna1":
        # LLVM, FeatureMFMAInlineLiteralBug.
        raise Untranslatable(instruction, "constants as C are a bug of gfx908")
    bits = constant_bits(operand, product.result)
    for part in range(2 if product.is_double else 1):
        dword = constant(V32, bits >> 32 * part & 0xFFFFFFFF)
        frame.builder.store(dword, frame.staging(part), 64)
    return [frame.staging(0)] * 2, 0


def _controls(instruction: Instruction, product: Mfma) -> list[int]:
    """Return the values of the parameters rows, keep, block and, of f64, signs."""
    rows = sum(row_of_b(instruction, product, row) << 2 * row for row in ROWS)
    signs = [_control(instruction, "blgp") if negates(product) else 0]
    keep = -1 << _control(instruction, "cbsz")
    return [rows, keep, _control(instruction, "abid"), *(signs if product.is_double else [])]


def _control(instruction: Instruction, name: str) -> int:
    return instruction.immediates.get(name, 0)


def block_of_a(instruction: Instruction, product: Mfma, block: int) -> int:
    """Return which block of A a block of B is multiplied with."""
    if product.sparse:
        return block
    return block & -1 << _control(instruction, "cbsz") | _control(instruction, "abid")


def row_of_b(instruction: Instruction, product: Mfma, row: int) -> int:
    """Return whose B a row of 16 lanes multiplies."""
    blgp = _control(instruction, "blgp")
    if blgp == 0 or product.sparse or product.is_double:
        return row
    if blgp < 3:
        return row % 2 + 2 * (blgp - 1)
    return (row + 1) % len(ROWS) if blgp == 3 else blgp - 4


def _set(instruction: Instruction) -> int:
    """Return which part of the index counts: abid says it, if cbsz is 0."""
    return 0 if _control(instruction, "cbsz") else _control(instruction, "abid")


def _check(instruction: Instruction, product: Mfma) -> None:
    """Refuse modifiers that the instruction has not."""
    cbsz, abid, blgp = (_control(instruction, name) for name in ("cbsz", "abid", "blgp"))
    if product.sparse:
        if _set(instruction) >= product.index_sets:
            raise Untranslatable(instruction, f"abid is 0 to {product.index_sets - 1}")
        if blgp:
            raise Untranslatable(instruction, "it has no blgp")
        return
    highest = 0 if product.is_double else product.blocks.bit_length() - 1
    if cbsz > highest:
        raise Untranslatable(instruction, f"cbsz is 0 to {highest}")
    if abid >= 1 << cbsz:
        raise Untranslatable(instruction, f"abid is less than {1 << cbsz} with this cbsz")
    has_blgp = product.a[:3] not in _BYTE_FLOATS and (negates(product) or not product.is_double)
    if blgp and not has_blgp:
        raise Untranslatable(instruction, "it has no blgp")


def _names(product: Mfma) -> Iterator[str]:
    """Yield a product's name in the assembler of its processors."""
    kind = "smfmac" if product.sparse else "mfma"
    a, b = (each.removesuffix("_fnuz") for each in (product.a, product.b))
    shape = f"v_{kind}_{product.result}_{product.m}x{product.m}x{product.k}"
    if product.generation == "cdna3":
        blocks = f"_{product.blocks}b" if product.blocks > 1 else ""
        yield f"{shape}{blocks}_{f'{a}_{b}' if a in _BYTE_FLOATS else a}"
    else:
        # gfx908's products of bf16 have two elements a lane; gfx90a added those of four.
        is_new = a == "bf16" and product.elements("a") == 4
        yield f"{shape}{a}{'_1k' if is_new else ''}"


MFMA: Mapping[str, Emitter] = {name: _emit for each in products() for name in _names(each)}
