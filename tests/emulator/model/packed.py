"""VOP3P: the same operation on two halves, products of mixed precision, dot products (RDNA 4 ISA,
16.10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.model.families import family_step
from tests.emulator.model.floats import larger, maximum, minimum, smaller
from tests.emulator.model.nans import with_nans
from tests.emulator.model.operation import Op, op
from tests.emulator.model.values import Numbers, fma, integers, patterns


def _on_halves() -> dict[str, Op]:
    """Operations on one half; both halves of the result are written."""
    table: dict[str, Op] = {}
    for code in ("i16", "u16"):
        two, three = f"{code} {code}", f"{code} {code} {code}"
        table[f"v_pk_mad_{code}"] = op(code, three, lambda x, y, z: x * y + z, clamps=True)
        table[f"v_pk_add_{code}"] = op(code, two, lambda x, y: x + y, clamps=True)
        table[f"v_pk_sub_{code}"] = op(code, two, lambda x, y: x - y, clamps=True)
        table[f"v_pk_max_{code}"] = op(code, two, np.maximum)
        table[f"v_pk_min_{code}"] = op(code, two, np.minimum)
    table["v_pk_mul_lo_u16"] = op("u16", "u16 u16", lambda x, y: x * y)
    table["v_pk_lshlrev_b16"] = op("b16", "u16 b16", lambda n, x: x << (n & 15))
    table["v_pk_lshrrev_b16"] = op("b16", "u16 u16", lambda n, x: x >> (n & 15))
    table["v_pk_ashrrev_i16"] = op("i16", "u16 i16", lambda n, x: x >> (n & 15))
    floats: dict[str, Callable[..., Any]] = {
        "add": lambda x, y: x + y,
        "mul": lambda x, y: x * y,
        "min_num": smaller,
        "max_num": larger,
        "minimum": minimum,
        "maximum": maximum,
    }
    for name, compute in floats.items():
        table[f"v_pk_{name}_f16"] = op("f16", "f16 f16", compute)
    table["v_pk_fma_f16"] = op("f16", "f16 f16 f16", fma)
    table["v_pk_fmac_f16"] = op("f16", "f16 f16", fma, old=True)
    return table


def _fields(x: Numbers, bits: int, signed: bool) -> list[Numbers]:
    sign = 1 << bits - 1 if signed else 0
    mask = (1 << bits) - 1
    return [
        integers([((int(v) >> first & mask) ^ sign) - sign for v in x])
        for first in range(0, 32, bits)
    ]


def integer_dot(bits: int) -> Callable[..., Numbers]:
    """The sum of the products of fields and the addend; the flags say which operand is signed."""

    def compute(
        x: Numbers, y: Numbers, z: Numbers, first: bool = False, second: bool = False
    ) -> Numbers:
        pairs = zip(_fields(x, bits, first), _fields(y, bits, second), strict=True)
        return sum((a * b for a, b in pairs), z)

    return compute


def byte_dot(left: str, right: str) -> Callable[..., Numbers]:
    """Four products of 8-bit floats and the addend, rounded as the scalar model of gfx1201
    rounds."""

    def compute(x: Numbers, y: Numbers, z: Numbers) -> Numbers:
        factors = [
            [[int(word) >> first & 255 for first in range(0, 32, 8)] for word in words]
            for words in (x, y)
        ]
        return _steps(factors, z, (left, right))

    return compute


def _steps(factors: list[list[list[int]]], addend: Numbers, kinds: tuple[str, str]) -> Numbers:
    rows = zip(*factors, patterns(addend, "f32"), strict=True)
    steps = [family_step(x, y, int(c), kinds, "f32") for x, y, c in rows]
    return np.array(steps, np.uint32).view(np.float32)


HALVES: dict[str, Op] = with_nans(_on_halves())
# The sources are pairs; the operation takes low and high of each, then the addend.
PAIRS: dict[str, Op] = {
    "v_dot2_f32_f16": op("f32", "f16 f16 f32", lambda x, y, z: x),
    "v_dot2_f32_bf16": op("f32", "bf16 bf16 f32", lambda x, y, z: x),
}
INTEGER_DOTS: dict[str, Op] = {
    "v_dot4_i32_iu8": op("i32", "b32 b32 i32", integer_dot(8), clamps=True),
    "v_dot8_i32_iu4": op("i32", "b32 b32 i32", integer_dot(4), clamps=True),
    "v_dot4_u32_u8": op("u32", "b32 b32 u32", integer_dot(8), clamps=True),
    "v_dot8_u32_u4": op("u32", "b32 b32 u32", integer_dot(4), clamps=True),
}
BYTE_DOTS: dict[str, Op] = {
    f"v_dot4_f32_{left}_{right}": op("f32", "b32 b32 f32", byte_dot(left, right))
    for left in ("fp8", "bf8")
    for right in ("fp8", "bf8")
}
MIXED = ("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16")


def _half_bits(values: Numbers, code: str) -> Numbers:
    if code == "f16":
        return patterns(values, code)
    return values.astype(np.float32).view(np.uint32) >> np.uint32(16)


def dot_of_pairs(x: list[Numbers], y: list[Numbers], addend: Numbers, code: str) -> Numbers:
    """Both products and the addend, rounded as the scalar model of the family rounds."""
    factors = [
        [
            [int(low), int(high)]
            for low, high in zip(*(_half_bits(half, code) for half in pair), strict=True)
        ]
        for pair in (x, y)
    ]
    return _steps(factors, addend, (code, code))
