"""Options that change the code: their cost and their effect on the emulator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit


def saxpy(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


def saxpy_with_assert(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        assert x[i] == x[i], f"NaN at {i}"
        y[i] = a * x[i] + y[i]


def saxpy_with_print(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        print(i, x[i])
        y[i] = a * x[i] + y[i]


def saxpy_with_text(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        print("here")
        y[i] = a * x[i] + y[i]


def saxpy_with_raise(a: amdjit.f32, x: amdjit.f32[:], y: amdjit.f32[:]):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        if x[i] < 0:
            raise ValueError("negative")
        y[i] = a * x[i] + y[i]


def test_the_documented_costs_are_measured() -> None:
    page = (Path(__file__).parents[3] / "docs/language.md").read_text()
    plain = amdjit.kernel(saxpy).compile().resources
    for what, function, options in (
        ('`assert x[i] == x[i], f"NaN at {i}"`', saxpy_with_assert, {}),
        ('`if x[i] < 0: raise ValueError("negative")`', saxpy_with_raise, {}),
        ("`print(i, x[i])`", saxpy_with_print, {}),
        ('`print("here")`', saxpy_with_text, {}),
        ("`bounds_check=True`, for its three accesses", saxpy, {"bounds_check": True}),
        (
            '`assert x[i] == x[i], f"NaN at {i}"` with `asserts=False`',
            saxpy_with_assert,
            {"asserts": False},
        ),
        (
            '`if x[i] < 0: raise ValueError("negative")` with `asserts=False`',
            saxpy_with_raise,
            {"asserts": False},
        ),
    ):
        found = amdjit.kernel(**options)(function).compile().resources
        row = (
            f"| {what} | {found.vgprs - plain.vgprs} | {found.instructions - plain.instructions} |"
        )
        assert row in page, row


@pytest.mark.parametrize("denormals", ["preserve", "flush"])
def test_denormals_are_kept_or_flushed_as_the_option_says(denormals: str) -> None:
    @amdjit.kernel(denormals=denormals)
    def halve(x):
        i = amdjit.grid(1)
        x[i] = x[i] * 0.5

    x = np.array([1.5e-38, 1.0, -2e-38], np.float32)
    halve[1, 3](x)
    expected = np.array([1.5e-38, 1.0, -2e-38], np.float32) * np.float32(0.5)
    assert x.tolist() == ([0, 0.5, 0] if denormals == "flush" else expected.tolist())


def test_inline_unroll_and_max_block() -> None:
    @amdjit.kernel
    def loop(x, n):
        for k in range(n):
            x[k] = through(x[k])

    def asm(**options: Any) -> str:
        return loop.compile(amdjit.f32[:], amdjit.i32, **options).asm_full

    assert "s_swappc_b64" in asm(inline=False)
    assert "s_swappc_b64" not in asm(inline=True)
    assert asm(unroll=8).count("_rsq_f32") > asm(unroll=1).count("_rsq_f32") > 0
    compiled = loop.compile(amdjit.f32[:], amdjit.i32, max_block=96)
    assert compiled.linked.kernels["loop"].metadata.max_flat_workgroup_size == 96
    with pytest.raises(amdjit.AmdjitError, match="max_block"):
        amdjit.kernel(max_block=(8, 8))(loop.function)
    x = np.array([4, 9, 16], np.float32)
    amdjit.kernel(inline=False, unroll=4, max_block=32)(loop.function)[1, 1](x, 3)
    assert x.tolist() == [2, 3, 4]


@amdjit.device_function
def through(x):
    return math.sqrt(x)
