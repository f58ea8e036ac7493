"""Dot products of the few elements that fit in a register.

Source: RDNA4 ISA, `v_dot2_f32_f16`, `v_dot4_i32_iu8`, `v_dot8_i32_iu4` and their relatives.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from amdjit.declarations import Emit, EmitContext, LlvmCall, device_function, intrinsic
from amdjit.intrinsics.builtins.table import row_of
from amdjit.intrinsics.models.dots import (
    BF8,
    BF16,
    F16,
    F32,
    FP8,
    clamped_unit,
    dot_of_numbers,
    integer_dot,
)
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import (
    Immediate,
    TypeVariable,
    Vector,
    bf8,
    bf16,
    boolean,
    f16,
    f32,
    fp8,
    i8,
    i32,
    u8,
    vector,
)

_i8x4, _u8x4 = vector(i8, 4), vector(u8, 4)


BYTES_A, BYTES_B = TypeVariable("A", (_i8x4, _u8x4)), TypeVariable("B", (_i8x4, _u8x4))


f16x2, bf16x2 = vector(f16, 2), vector(bf16, 2)


PAIR = TypeVariable("P", (f16x2, bf16x2))


_eighths = (vector(fp8, 4), vector(bf8, 4))


EIGHTHS_A, EIGHTHS_B = TypeVariable("A", _eighths), TypeVariable("B", _eighths)


Flag = Annotated[bool, Immediate(0, 1)]


def _is_signed(type: Any) -> bool:
    return isinstance(type, Vector) and type.element.is_signed


def _emit_dot4(context: EmitContext, a: Any, b: Any, c: Any, clamp: bool) -> Any:
    word = context.llvm_type(i32)
    words, signs = (
        [context.bitcast(value, word) for value in (a, b)],
        [_is_signed(t) for t in context.types[:2]],
    )
    first, second, last = (context.constant(boolean, flag) for flag in (*signs, clamp))
    return context.call("llvm.amdgcn.sudot4", word, [first, words[0], second, words[1], c, last])


def _emit_dot2(context: EmitContext, a: Any, b: Any, c: Any, clamp: bool) -> Any:
    is_half = context.types[0] == vector(f16, 2)
    name = "llvm.amdgcn.fdot2" if is_half else "llvm.amdgcn.fdot2.f32.bf16"
    return context.call(name, context.llvm_type(f32), [a, b, c, context.constant(boolean, clamp)])


def _emit_dot4_float(context: EmitContext, a: Any, b: Any, c: Any) -> Any:
    kinds = [type.element.name for type in context.types[:2] if isinstance(type, Vector)]
    words = [context.bitcast(value, context.llvm_type(i32)) for value in (a, b)]
    return context.call(
        f"llvm.amdgcn.dot4.f32.{kinds[0]}.{kinds[1]}", context.llvm_type(f32), [*words, c]
    )


def _clamped(total: Any, clamp: bool) -> Any:
    low, high = -(2**31), 2**31 - 1
    return np.clip(total, low, high) if clamp else np.asarray(total).astype(np.int32)


@intrinsic(
    Emit(_emit_dot2),
    isa="v_dot2_f32",
    targets=row_of("fdot2_f32_bf16").targets,
    alternative="arithmetic.fma, twice",
)
def dot2(a: PAIR, b: PAIR, c: f32, clamp: Flag = False) -> f32:
    """Return c + a[0] * b[0] + a[1] * b[1] for f16 or bf16 pairs; clamp: to 0..1 (`v_dot2_f32_f16`,
    `_bf16`).

    The terms are added on a common grid and rounded once, as on gfx12: see `isa.matrix_rounding`.
    """
    factors = BF16 if np.asarray(a).dtype == BF16 else F16
    return clamped_unit(dot_of_numbers(a, b, c, (factors,), F32), clamp)


@intrinsic(
    LlvmCall("llvm.amdgcn.fdot2.f16.f16"),
    isa="v_dot2_f16_f16",
    targets=row_of("fdot2_f16_f16").targets,
    alternative="arithmetic.dot2",
)
def _dot2_f16(a: f16x2, b: f16x2, c: f16) -> f16:
    """Return dot2 as an f16."""
    return dot_of_numbers(a, b, c, (F16,), F16)


@intrinsic(
    LlvmCall("llvm.amdgcn.fdot2.bf16.bf16"),
    isa="v_dot2_bf16_bf16",
    targets=row_of("fdot2_bf16_bf16").targets,
    alternative="arithmetic.dot2",
)
def _dot2_bf16(a: bf16x2, b: bf16x2, c: bf16) -> bf16:
    """Return dot2 as a bf16."""
    return dot_of_numbers(a, b, c, (BF16,), BF16)


@compile_time
def _is_bf16(compilation: Compilation, type: Any) -> bool:
    return bool(type == bf16)


@device_function
def dot2_narrow(a, b, c):
    """Return dot2 of f16 or bf16 pairs and a number of that type, in that type: one
    `v_dot2_f16_f16` or `v_dot2_bf16_bf16`."""
    if _is_bf16(c):
        return _dot2_bf16(a, b, c)
    return _dot2_f16(a, b, c)


@intrinsic(
    Emit(_emit_dot4_float),
    isa="v_dot4_f32",
    targets=row_of("dot4_f32_fp8_fp8").targets,
    alternative="arithmetic.fma",
)
def dot4_float(a: EIGHTHS_A, b: EIGHTHS_B, c: f32) -> f32:
    """Return c + the dot product of four fp8 or bf8 in any mix, rounded by a model
    (`v_dot4_f32_fp8_bf8`, ...).

    Nobody has measured how a GPU rounds this: the model is a published one (`matrix.certainty`,
    `isa.matrix_rounding`).
    """
    factors = tuple(BF8 if np.asarray(each).dtype == BF8 else FP8 for each in (a, b))
    return dot_of_numbers(a, b, c, factors, F32)


@intrinsic(
    Emit(_emit_dot4),
    isa="v_dot4_i32_iu8",
    targets=row_of("sudot4").targets,
    alternative="amdgcn.sdot4, amdgcn.udot4",
)
def dot4(a: BYTES_A, b: BYTES_B, c: i32, clamp: Flag = False) -> i32:
    """Return c + the dot product of four bytes, each operand signed if its type is; clamp: saturate
    (`v_dot4_i32_iu8`)."""
    products = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    return _clamped(products.sum(axis=-1) + np.asarray(c, np.int64), clamp)


@intrinsic(
    LlvmCall("llvm.amdgcn.sudot8", ("a_signed", "a", "b_signed", "b", "c", "clamp")),
    isa="v_dot8_i32_iu4",
    targets=row_of("sudot8").targets,
    alternative="amdgcn.sdot8, amdgcn.udot8",
)
def dot8(
    a: i32, b: i32, c: i32, a_signed: Flag = True, b_signed: Flag = True, clamp: Flag = False
) -> i32:
    """Return c + the dot product of the eight 4-bit integers of two words; clamp: saturate
    (`v_dot8_i32_iu4`)."""
    return integer_dot(a, b, c=c, bits=4, signs=(a_signed, b_signed), clamp=clamp, result=np.int32)
