"""An `or` of 64 bits has ones where an operand has: LLVM's instruction selection alone would lose
them where it knows 32 of an operand's bits to be ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import i64, u64
from amdjit.backend.selection_losses import keep_ones_of_wide_or


def masks(x: Any, y: Any, out: Any) -> None:
    i = amdjit.threadIdx.x
    wide, other = i64(x[i]), y[i]
    out[i, 0] = (wide ^ -3) | other
    out[i, 1] = (i64(-5) if x[i] > 9 else i64(-7)) | other
    out[i, 2] = (wide ^ 4294967295) | (other << 32)
    out[i, 3] = (i64(-5) if x[i] > 9 else (i64(-7) if x[i] > 5 else i64(-2))) | (other << 3)
    ones = wide | -4294967296
    out[i, 4] = (ones | other) + (ones ^ 1)
    out[i, 5] = (~wide | other) - (wide | other)
    pair = (x[i:].view(u64)[0] if x.shape[0] > 100 else u64(x[i])) ^ u64(2**64 - 3)
    out[i, 6] = i64(pair | u64(other))
    out[i, 7] = (other & 65535 ^ -9) | (other >> 7)


def expected(x: int, y: int) -> list[int]:
    ones = x | -4294967296
    return [
        (x ^ -3) | y,
        (-5 if x > 9 else -7) | y,
        (x ^ 4294967295) | (y << 32),
        (-5 if x > 9 else -7 if x > 5 else -2) | (y << 3),
        (ones | y) + (ones ^ 1),
        (~x | y) - (x | y),
        (x ^ -3) | y,
        (y & 65535 ^ -9) | (y >> 7),
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_ones_stay_in_both_halves(level: int) -> None:
    random = np.random.default_rng(level)
    x = random.integers(0, 2**32, 32, dtype=np.uint32)
    x[:16] //= 2**29
    y = random.integers(-(2**63), 2**63, 32)
    y[::3] >>= 40
    out = np.zeros((32, 8), np.int64)
    with amdjit.use("emulator:gfx1201"):
        amdjit.kernel(opt_level=level, block=32, warnings=False)(masks)[1, 32](x, y, out)
    by_python = [expected(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    assert out.tolist() == [[(value + 2**63) % 2**64 - 2**63 for value in row] for row in by_python]


def function_of(*lines: str) -> str:
    return "define void @f() {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


@pytest.mark.parametrize(
    "operand",
    [
        "xor i64 %x, -3, !dbg !5",
        "xor i64 %x, 4294967295",
        "select i1 %c, i64 -7, i64 %x",
        "bitcast <2 x i32> %x to i64",
        "or disjoint i64 %x, -4294967296",
    ],
)
def test_what_may_have_ones_is_combined_by_and(operand: str) -> None:
    kept = keep_ones_of_wide_or(function_of(f"%1 = {operand}", "%2 = or i64 %y, %1, !dbg !7"))
    assert " or i64 %y" not in kept
    assert kept.endswith(", -1, !dbg !7\n}\n")


@pytest.mark.parametrize(
    "operand", ["xor i64 %x, 3", "shl i64 %x, 32", "select i1 %c, i64 7, i64 0, !dbg !4294967295"]
)
def test_other_operands_stay_as_they_are(operand: str) -> None:
    text = function_of(f"%1 = {operand}", "%2 = or i64 %1, %y")
    assert keep_ones_of_wide_or(text) == text


def test_vectors_are_kept_too() -> None:
    text = function_of("%1 = xor <2 x i64> %x, splat (i64 -3)", "%2 = or <2 x i64> %1, %y")
    assert "%2 = xor <2 x i64> %amdjit.both" in keep_ones_of_wide_or(text)
