"""Arithmetic operations of instructions: what a roofline counts.

Counted are additions, multiplications and transcendental functions of floats in vector
instructions, dot products and matrix products; a multiplication with addition is two (as
rocprofiler-compute counts FLOPs). Other integer arithmetic is not: most of it computes addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amdjit.isa.instruction import Instruction
from amdjit.isa.matrix_products import BlockProduct, MatrixProduct

__all__ = ["operations_of", "sum_operations"]

_SINGLE = (
    "add", "sub", "subrev", "mul", "mul_dx9_zero", "exp", "log", "rcp", "rcp_iflag", "rsq", "sqrt",
    "sin", "cos",
)  # fmt: skip
_TWO = (
    "fma", "fmac", "fmaak", "fmamk", "fma_dx9_zero", "fmac_dx9_zero", "div_fmas",
    "mac", "mad", "madak", "madmk", "mad_legacy",
)  # fmt: skip
_FLOATS = ("f16", "f32", "f64")

# By `Traits.operation`: the type, and operations of a lane.
_OPERATIONS: Mapping[str, tuple[str, int]] = {
    **{f"v_{name}_{kind}": (kind, 1) for name in _SINGLE for kind in _FLOATS},
    **{f"v_{name}_{kind}": (kind, 2) for name in _TWO for kind in _FLOATS},
    "v_fma_mix_f32": ("f32", 2),
    "v_fma_mixlo_f16": ("f32", 2),
    "v_fma_mixhi_f16": ("f32", 2),
    "v_fma_legacy_f16": ("f16", 2),
    "v_exp_legacy_f32": ("f32", 1),
    "v_log_legacy_f32": ("f32", 1),
    "v_pk_add_f32": ("f32", 2),
    "v_pk_mul_f32": ("f32", 2),
    "v_pk_fma_f32": ("f32", 4),
    "v_pk_add_f16": ("f16", 2),
    "v_pk_mul_f16": ("f16", 2),
    "v_pk_fma_f16": ("f16", 4),
    "v_pk_fmac_f16": ("f16", 4),
    "v_dot2acc_f32_f16": ("f16", 4),
    "v_dot2acc_f32_bf16": ("bf16", 4),
    "v_dot2_f32_f16": ("f16", 4),
    "v_dot2_f16_f16": ("f16", 4),
    "v_dot2_f32_bf16": ("bf16", 4),
    "v_dot2_bf16_bf16": ("bf16", 4),
    **{
        f"v_dot4_f32_{a}_{b}": ("fp8", 8) for a in ("fp8", "bf8") for b in ("fp8", "bf8")
    },
    "v_dot2c_f32_f16": ("f16", 4),
    "v_dot2c_f32_bf16": ("bf16", 4),
    "v_dot2_i32_i16": ("i16", 4),
    "v_dot2c_i32_i16": ("i16", 4),
    "v_dot2_u32_u16": ("i16", 4),
    "v_dot4_i32_i8": ("i8", 8),
    "v_dot4c_i32_i8": ("i8", 8),
    "v_dot8_i32_i4": ("i4", 16),
    "v_dot8c_i32_i4": ("i4", 16),
    "v_dot4_i32_iu8": ("i8", 8),
    "v_dot4_u32_u8": ("i8", 8),
    "v_dot8_i32_iu4": ("i4", 16),
    "v_dot8_u32_u4": ("i4", 16),
}  # fmt: skip
_MATRIX_TYPES = {"bf8": "fp8", "iu8": "i8", "iu4": "i4", "xf32": "f32", "f8f6f4": "fp8"}
# Rows and columns of WMMA's results.
_ROWS = 16


def operations_of(instruction: Instruction, executions: int, lanes: int) -> dict[str, int]:
    """Return the operations of all executions of an instruction, by type. lanes: that were active,
    summed over the executions."""
    matrix = instruction.traits.matrix
    if matrix is not None:
        return {_matrix_type(matrix): executions * _matrix_operations(matrix)}
    product = instruction.traits.block_product
    if product is not None:
        count = executions * _block_operations(product, instruction)
        return {f"{_MATRIX_TYPES.get(product.a, product.a)} matrix": count}
    halves = (instruction,) if instruction.pair is None else (instruction, instruction.pair)
    found = (_OPERATIONS.get(half.traits.operation) for half in halves)
    return sum_operations({kind: count * lanes} for kind, count in filter(None, found))


def sum_operations(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum by type."""
    total: dict[str, int] = {}
    for one in several:
        for kind, count in one.items():
            total[kind] = total.get(kind, 0) + count
    return total


def _matrix_type(matrix: MatrixProduct) -> str:
    return f"{_MATRIX_TYPES.get(matrix.a, matrix.a)} matrix"


def _matrix_operations(matrix: MatrixProduct) -> int:
    """Half of a sparse A is 0 and is not multiplied."""
    depth = matrix.k // 2 if matrix.sparse else matrix.k
    return 2 * _ROWS * _ROWS * depth


def _block_operations(product: BlockProduct, instruction: Instruction) -> int:
    depth = product.k // 2 if product.sparse else product.k
    blocks = product.blocks(instruction.opcode.operands[0].dwords)
    return 2 * product.m * product.m * depth * blocks
