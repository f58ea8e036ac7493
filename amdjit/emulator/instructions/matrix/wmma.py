"""WMMA and SWMMAC: native functions work on the registers in the wave's state. They ignore EXEC.

They are emitted once for a wave; each operand is the address of its registers, in wave64 one
address for each half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.instructions.matrix.layouts import Matrix, is_of_gfx11
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.whole_waves import (
    in_each_half,
    matrix_register,
    require_all_lanes,
)
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.operands import constant_bits
from amdjit.emulator.wave.registers import V32
from amdjit.isa.instruction import InlineConstant, Instruction, Register, RegisterFile
from amdjit.isa.register_numbers import HALF_LANES, is_vector, vector_number

# Staging vectors: C from 0 on, then A, then B.
_C_STAGE, _A_STAGE = 0, 8


def _pointers(frame: Frame, register: Register, dwords: int) -> list[Value]:
    def pointer() -> Value:
        frame.registers.flush_vectors(vector_number(register), dwords)
        return frame.registers.vector_slot(vector_number(register))

    return in_each_half(frame, pointer)


def _staged(frame: Frame, stage: int, count: int, value: Callable[[int], Value]) -> list[Value]:
    """Put `count` vectors of each half into the staging area from `stage` on; return their
    addresses."""

    def stage_half() -> Value:
        first = stage + frame.registers.wave_half * count
        for part in range(count):
            frame.builder.store(value(part), frame.staging(first + part), 64)
        return frame.staging(first)

    return in_each_half(frame, stage_half)


def _sign_mask(low: int, high: int, bits: int) -> int:
    if bits == 16:
        return (0x8000 if low else 0) | (0x80000000 if high else 0)
    return 0x80808080 if low else 0


def _factor(
    frame: Frame, instruction: Instruction, index: int, stage: int, dwords: int, mask: int
) -> list[Value]:
    """Return the address of A or B, or of a copy if there are sign bits to flip."""
    register = matrix_register(instruction, index)
    if not mask:
        return _pointers(frame, register, dwords)

    def flipped(part: int) -> Value:
        value = frame.registers.vector(vector_number(register) + part)
        return frame.builder.xor(value, constant(V32, mask))

    return _staged(frame, stage, dwords, flipped)


def _addend(frame: Frame, instruction: Instruction, matrix: Matrix) -> list[Value]:
    """Return the address of C: registers, a copy with neg (neg_lo) and abs (neg_hi) applied, or a
    constant."""
    operand = instruction.operands[3]
    sign = 0x80000000 if matrix.result in ("f32", "i32") else 0x80008000
    negate, absolute = instruction.modifiers.neg >> 2 & 1, instruction.modifiers.neg_hi >> 2 & 1
    if is_vector(operand) and not (negate or absolute):
        return _pointers(frame, operand, matrix.result_dwords)

    def modified(part: int) -> Value:
        value = _addend_value(frame, instruction, matrix, part)
        if absolute:
            value = frame.builder.and_(value, constant(V32, ~sign))
        return frame.builder.xor(value, constant(V32, sign)) if negate else value

    return _staged(frame, _C_STAGE, matrix.result_dwords, modified)


def _addend_value(frame: Frame, instruction: Instruction, matrix: Matrix, part: int) -> Value:
    operand = instruction.operands[3]
    if isinstance(operand, InlineConstant):
        code = {"f32": "f32", "i32": "i32", "f16": "f16", "bf16": "b16"}[matrix.result]
        bits = constant_bits(operand, code)
        if matrix.result == "bf16":
            bits = constant_bits(operand, "f32") >> 16 if isinstance(operand.value, float) else bits
        return constant(V32, bits if matrix.result in ("f32", "i32") else bits | bits << 16)
    if isinstance(operand, Register) and operand.file is RegisterFile.NULL:
        return constant(V32, 0)
    return frame.registers.vector(vector_number(matrix_register(instruction, 3)) + part)


def _integer_elements(instruction: Instruction, kind: str) -> tuple[str, str]:
    """Return the types of A and B: neg_lo says which are signed."""
    width = kind[2:]
    neg = instruction.modifiers.neg
    return tuple(("i" if neg >> number & 1 else "u") + width for number in (0, 1))  # type: ignore[return-value]


def matrix_of(frame: Frame, instruction: Instruction) -> Matrix:
    """Return the product that an instruction computes."""
    product = instruction.traits.matrix
    assert product is not None
    a, b, clamps = product.a, product.b, False
    if a.startswith("iu"):
        a, b = _integer_elements(instruction, a)
        clamps = instruction.modifiers.clamp
    wave_size = frame.registers.halves * HALF_LANES
    repeats = is_of_gfx11(instruction)
    return Matrix(
        a,
        b,
        result=product.result,
        k=product.k,
        sparse=product.sparse,
        clamp=clamps,
        wave_size=wave_size,
        is_repeated=repeats,
    )


def _emit_dense(frame: Frame, instruction: Instruction) -> None:
    matrix = matrix_of(frame, instruction)
    if matrix.is_repeated and matrix.is_integer and instruction.modifiers.neg_hi:
        raise Untranslatable(instruction, "neg_hi has no meaning for integers")
    a, b = _factors(frame, instruction, matrix)
    c = _addend(frame, instruction, matrix)
    _call(frame, instruction, matrix, [*a, *b, *c])


def _factors(
    frame: Frame, instruction: Instruction, matrix: Matrix
) -> tuple[list[Value], list[Value]]:
    dwords = matrix.held_dwords("a"), matrix.held_dwords("b")
    if matrix.is_integer:
        return _pointers(frame, matrix_register(instruction, 1), dwords[0]), _pointers(
            frame, matrix_register(instruction, 2), dwords[1]
        )
    bits = 16 if matrix.a in ("f16", "bf16") else 8
    modifiers = instruction.modifiers
    a, b = (
        _sign_mask(modifiers.neg >> number & 1, modifiers.neg_hi >> number & 1, bits)
        for number in (0, 1)
    )
    if matrix.sparse:
        # The elements of B are negated as partners of A's low and high halves, after the index has
        # selected them (captured).
        a, b = a ^ b, 0
    after_a = _A_STAGE + dwords[0] * frame.registers.halves
    return _factor(frame, instruction, index=1, stage=_A_STAGE, dwords=dwords[0], mask=a), _factor(
        frame, instruction, index=2, stage=after_a, dwords=dwords[1], mask=b
    )


def _call(frame: Frame, instruction: Instruction, matrix: Matrix, sources: list[Value]) -> None:
    if matrix.overflows:
        sources = [*sources, frame.overflow_flag()]
    if matrix.takes_halves:
        sources = [*sources, constant("i32", instruction.modifiers.op_sel >> 2 & 1)]
    require_all_lanes(frame, instruction)
    target = matrix_register(instruction, 0)
    if matrix.takes_halves:
        places = _pointers(frame, target, matrix.result_dwords)
    else:
        places = in_each_half(frame, lambda: frame.registers.vector_slot(vector_number(target)))
    frame.native_void(matrix.symbol, [*places, *sources])
    for half in range(frame.registers.halves):
        frame.registers.select_half(half)
        frame.registers.forget_vectors(vector_number(target), matrix.result_dwords)
    frame.registers.select_half(0)


def _emit_sparse(frame: Frame, instruction: Instruction) -> None:
    matrix = matrix_of(frame, instruction)
    a, b = _factors(frame, instruction, matrix)
    target = _pointers(frame, matrix_register(instruction, 0), matrix.result_dwords)
    index = _pointers(frame, matrix_register(instruction, 3), 1)
    sets = 32 // (4 * matrix.pairs)
    chosen = constant("i32", instruction.modifiers.op_sel & sets - 1)
    _call(frame, instruction, matrix, [*a, *b, *target, *index, chosen])


_FLOATS = ("f32_16x16x{k}_f16", "f32_16x16x{k}_bf16", "f16_16x16x{k}_f16", "bf16_16x16x{k}_bf16")
_EIGHTS = tuple(f"f32_16x16x{{k}}_{a}_{b}" for a in ("fp8", "bf8") for b in ("fp8", "bf8"))
_DENSE = [name.format(k=16) for name in (*_FLOATS, *_EIGHTS)]
_SPARSE = [name.format(k=32) for name in (*_FLOATS, *_EIGHTS)]

WMMA: Mapping[str, Emitter] = {
    **{f"v_wmma_{name}": _emit_dense for name in _DENSE},
    "v_wmma_i32_16x16x16_iu8": _emit_dense,
    "v_wmma_i32_16x16x16_iu4": _emit_dense,
    "v_wmma_i32_16x16x32_iu4": _emit_dense,
    **{f"v_swmmac_{name}": _emit_sparse for name in _SPARSE},
    "v_swmmac_i32_16x16x32_iu8": _emit_sparse,
    "v_swmmac_i32_16x16x32_iu4": _emit_sparse,
    "v_swmmac_i32_16x16x64_iu4": _emit_sparse,
}
