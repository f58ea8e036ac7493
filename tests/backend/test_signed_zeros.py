"""`0.0 - x` is 0.0 where x is 0.0, whatever uses it: LLVM's instruction selection alone would make
it `-x`."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import amdjit
from amdjit import f16, f32, local
from amdjit.backend import emit_assembly, optimise
from amdjit.backend.selection_losses import keep_signs_of_zeros
from amdjit.options import CompileOptions, named_target
from amdjit.target import TARGETS


def from_zero(x: f32[:], y: f32[:], out: f32[:, :]) -> None:
    i = amdjit.threadIdx.x
    zero_minus = f32(0) - x[i]
    out[0, i] = zero_minus * y[i]
    out[1, i] = (f32(0) + -x[i]) * y[i]
    out[2, i] = f32((f16(0) - f16(x[i])) * f16(y[i]))
    out[3, i] = max(zero_minus - y[i] * 0, zero_minus)
    total = f32(0)
    for value in (x[i], y[i] - y[i]):
        total -= value
    out[4, i] = total * y[i]
    parts = local.array(4, f32)
    for k in range(4):
        parts[k] = (f32(0) - x[(i + k) % 8]) * y[i]
    out[5, i] = parts[i % 4]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_zero_minus_zero_is_zero(level: int) -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, 0.0, -0.0, np.inf, 2.0], np.float32)
    y = np.array([1.0, 1.0, 1.0, 1.0, -2.0, -2.0, 0.5, -0.0], np.float32)
    out = np.full((6, 8), 7, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", amdjit.PerformanceWarning)  # at level 0
        amdjit.kernel(from_zero, opt_level=level)[1, 8](x, y, out)
    minus = np.float32(0) - x
    product = minus * y
    picked = np.array([minus[(i + i % 4) % 8] * y[i] for i in range(8)], np.float32)
    with np.errstate(invalid="ignore"):
        expected = np.stack(
            [
                product,
                product,
                product,
                np.maximum(minus - y * 0, minus),
                (minus - (y - y)) * y,
                picked,
            ]
        )
    assert_array_equal(out, expected)
    assert_array_equal(np.signbit(out), np.signbit(expected))


def test_it_costs_no_instruction_and_fast_math_keeps_the_negation() -> None:
    def minus(x: f32[:], y: f32[:]) -> None:
        y[0] = (f32(0) - x[0]) * y[0]

    exact = amdjit.kernel(minus).compile(target="gfx1201").asm_full
    assert (
        len(re.findall(r"\tv_(?:sub|mul)_f32", exact))
        + len(re.findall(r"\ts_(?:sub|mul)_f32", exact))
        == 2
    )
    fast = amdjit.kernel(minus, fastmath=True).compile(target="gfx1201").asm_full
    assert not re.search(r"\t[sv]_sub_f32", fast)


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ("%3 = fsub float 0.000000e+00, %2", True),
        ('%".4" = fsub contract float 0.000000e+00, %2, !dbg !7', True),
        ("%x = fsub half 0xH0000, %2", True),
        ("%x = fsub <4 x float> zeroinitializer, %2", True),
        ("%x = fsub <2 x half> <half 0xH0000, half 0xH3C00>, %2", True),
        ("%2 = fneg float %1\n  %3 = fadd float %2, 0.000000e+00", True),
        ("%2 = fsub float %0, %1\n  %3 = fadd float %2, 0.000000e+00", False),
        ("%x = fsub <2 x float> <float -0.000000e+00, float 1.000000e+00>, %2", False),
        ("%3 = fsub nsz float 0.000000e+00, %2", False),
        ("%3 = fsub reassoc nsz arcp contract half 0xH0000, %2", False),
        ("%3 = fsub float -0.000000e+00, %2", False),
        ("%3 = fsub float 1.000000e+00, %2", False),
        ("%3 = fsub float %1, %2", False),
        ("%3 = fsub double 0.000000e+00, %2", False),
    ],
)
def test_what_is_a_subtraction_from_zero(line: str, is_kept: bool) -> None:
    assert (
        "llvm.canonicalize" in keep_signs_of_zeros(f"  {line}\n", named_target("gfx1201"))
    ) == is_kept


def rounded_products(x: f32[:], y: f32[:], h: f16[:], out: f16[:, :]) -> None:
    i = amdjit.threadIdx.x
    out[0, i] = f16(x[i] * y[i])
    out[1, i] = f16(x[i] * 0.125)
    out[2, i] = f16(f32(h[i]) * y[i])
    out[3, i] = f16(-(x[i] * y[i]))
    out[4, i] = f16(x[i] * y[i]) * h[i]
    out[5, i] = f16(x[0] * y[1])
    out[6, i] = f16(x[i] / 8)
    out[7, i] = f16(x[i] * y[i] if x[i] < y[i] else y[i])
    pair = local.array(2, f32)
    pair[0], pair[1] = x[i] * y[i], x[i] * 3
    out[8, i] = f16(pair[i % 2])


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_product_keeps_its_sign_as_a_half(level: int, wave_size: int) -> None:
    x = np.array([-0.0, 0.0, 1e-30, -1e-30, -5.0, 3.0, np.inf, -2.0], np.float32)
    y = np.array([1.0, -2.0, -1e-30, 1e-30, 0.0, 7.0, -1.0, -0.0], np.float32)
    h = np.array([1.0, 0.5, -1.0, -3.0, -0.0, 0.0, 2.0, 6e-8], np.float16)
    out = np.full((9, 8), 7, np.float16)
    amdjit.kernel(rounded_products, opt_level=level, wave_size=wave_size, warnings=False)[1, 8](
        x, y, h, out
    )
    wide = h.astype(np.float32)
    with np.errstate(all="ignore"):
        product = x * y
        rows = [product, x * np.float32(0.125), wide * y, -product]
        rows += [
            product.astype(np.float16) * h,
            np.full(8, x[0] * y[1]),
            x / 8,
            np.where(x < y, product, y),
        ]
        rows += [np.where(np.arange(8) % 2 == 0, product, x * 3)]
        expected = np.stack([row.astype(np.float16) for row in rows])
    assert_array_equal(out, expected)
    assert_array_equal(np.signbit(out), np.signbit(expected))


@pytest.mark.covering(1)
@pytest.mark.parametrize("type", ["half", "float", "<2 x half>", "<2 x float>"])
@pytest.mark.parametrize("processor", ["gfx1030", "gfx1100", "gfx1201", "gfx90a", "gfx942"])
def test_a_uniform_subtraction_from_zero_is_compiled_everywhere(type: str, processor: str) -> None:
    target = next((known for known in TARGETS if known.name == processor), None)
    if target is None:
        return
    text = f"""define protected amdgpu_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {{
  %x = load volatile {type}, ptr addrspace(1) %p
  %zero = fsub {type} zeroinitializer, %x
  %y = fmul {type} %zero, %x
  store {type} %y, ptr addrspace(1) %q
  ret void
}}
"""
    for level in (0, 1, 3):
        for wave_size in target.wave_sizes:
            options = CompileOptions(target, opt_level=level, wave_size=wave_size)
            code = emit_assembly(optimise(text, target, options), target, options)
            assert re.search(r"\t[sv]_(?:dual_)?(?:sub|pk_add|add|sub_nc)_\w*f(?:16|32)", code)


def test_a_uniform_half_can_be_subtracted_from_zero() -> None:
    def minus(x: f16[:], out: f16[:]) -> None:
        out[0] = 0 - x[3]

    x, out = np.array([1, 2, 3, 0.0], np.float16), np.full(1, 7, np.float16)
    for level in range(4):
        amdjit.kernel(minus, opt_level=level, warnings=False)[1, 32](x, out)
        assert out[0] == 0
        assert not np.signbit(out[0])


def test_products_that_need_no_sign_of_zero_are_left_alone() -> None:
    text = (
        "define half @f(float %a) {\n  %m = fmul nsz float %a, %a\n  %r = fptrunc float %m to "
        "half\n  ret half %r\n}\n"
    )
    assert keep_signs_of_zeros(text, named_target("gfx1201")) == text
    assert "llvm.fma.f32" in keep_signs_of_zeros(text.replace("nsz ", ""), named_target("gfx1201"))
    to_bf16 = text.replace("nsz ", "").replace("half", "bfloat")
    assert keep_signs_of_zeros(to_bf16, named_target("gfx1201")) == to_bf16
    assert "llvm.fma.f32" in keep_signs_of_zeros(to_bf16, named_target("gfx1250"))
