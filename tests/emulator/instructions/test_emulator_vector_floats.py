"""Vector float instructions against NumPy and exact rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.exact_rounding import fused
from tests.emulator.float_checks import F16, F32, F64, Floats, quiet_numpy, run32, same
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import (
    bits32,
    join64,
    run_registers,
    samples16,
    samples32,
    samples64,
    split64,
)

__all__ = ["quiet_numpy"]
pytestmark = needs_tools


def number_minimum(x: Floats, y: Floats) -> Floats:
    """IEEE 754-2019 minimumNumber: -0 below +0, a number before a NaN."""
    lower = np.where((x == 0) & (y == 0), np.where(np.signbit(x), x, y), np.where(x < y, x, y))
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, lower)).astype(x.dtype)


def number_maximum(x: Floats, y: Floats) -> Floats:
    return -number_minimum(-x, -y)


def propagating(choose: Callable[[Floats, Floats], Floats]) -> Callable[[Floats, Floats], Floats]:
    def model(x: Floats, y: Floats) -> Floats:
        return np.where(np.isnan(x) | np.isnan(y), x.dtype.type(np.nan), choose(x, y)).astype(
            x.dtype
        )

    return model


def legacy_product(x: Floats, y: Floats) -> Floats:
    return np.where((x == 0) | (y == 0), F32(0), x * y).astype(F32)


TWO: dict[str, Callable[[Floats, Floats], Floats]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "subrev": lambda x, y: y - x,
    "mul": lambda x, y: x * y,
    "min_num": number_minimum,
    "max_num": number_maximum,
    "minimum": propagating(number_minimum),
    "maximum": propagating(number_maximum),
}
ONE: dict[str, Callable[[Floats], Floats]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rndne": np.rint,
    "sqrt": np.sqrt,
    "rcp": lambda x: x.dtype.type(1) / x,
}


@pytest.mark.parametrize("name", TWO)
def test_f32_instructions_of_two_operands_are_numpys(name: str) -> None:
    x, y = samples32(2).view(F32)
    same(run32(f"v_{name}_f32 v100, v1, v2", x, y), TWO[name](x, y))


@pytest.mark.parametrize("name", [name for name in ONE if name not in ("sqrt", "rcp")])
def test_f32_instructions_of_one_operand_are_numpys(name: str) -> None:
    x = samples32(1)[0].view(F32)
    same(run32(f"v_{name}_f32 v100, v1", x), ONE[name](x))


@pytest.mark.parametrize("name", [name for name in TWO if name != "subrev"])
def test_f16_instructions_of_two_operands_are_numpys(name: str) -> None:
    x, y = samples16(2).view(F16)
    inputs = np.stack([bits32(x), bits32(y)])
    found = run_registers(f"  v_mov_b32 v100, 0\n  v_{name}_f16 v100, v1, v2", inputs, [100])[0]
    same(found.astype(np.uint16).view(F16), TWO[name](x, y))


@pytest.mark.parametrize("name", ONE)
def test_f16_instructions_of_one_operand_are_numpys(name: str) -> None:
    x = samples16(1)[0].view(F16)
    found = run_registers(f"  v_mov_b32 v100, 0\n  v_{name}_f16 v100, v1", bits32(x)[None], [100])[
        0
    ]
    same(found.astype(np.uint16).view(F16), ONE[name](x))


@pytest.mark.parametrize("name", [name for name in TWO if not name.startswith("sub")])
def test_f64_instructions_of_two_operands_are_numpys(name: str) -> None:
    x, y = samples64(2).view(F64)
    inputs = np.stack([*split64(x), *split64(y)])
    low, high = run_registers(f"  v_{name}_f64 v[100:101], v[1:2], v[3:4]", inputs, [100, 101])
    same(join64(low, high, F64), TWO[name](x, y))


@pytest.mark.parametrize("name", ONE)
def test_f64_instructions_of_one_operand_are_numpys(name: str) -> None:
    x = samples64(1)[0].view(F64)
    low, high = run_registers(
        f"  v_{name}_f64 v[100:101], v[1:2]", np.stack(split64(x)), [100, 101]
    )
    same(join64(low, high, F64), ONE[name](x))


def test_fused_multiply_add_rounds_once() -> None:
    x, y, z = (row.view(F32) for row in samples32(3))
    exact = [F32(fused(float(a), float(b), float(c), F32)) for a, b, c in zip(x, y, z, strict=True)]
    same(run32("v_fma_f32 v100, v1, v2, v3", x, y, z), np.array(exact, F32))
    same(run32("v_mov_b32 v100, v3\n  v_fmac_f32 v100, v1, v2", x, y, z), np.array(exact, F32))
    halves = samples16(3).view(F16)
    exact16 = [
        F16(fused(float(a), float(b), float(c), F16)) for a, b, c in zip(*halves, strict=True)
    ]
    inputs = np.stack([bits32(row) for row in halves])
    found = run_registers("  v_mov_b32 v100, 0\n  v_fma_f16 v100, v1, v2, v3", inputs, [100])[0]
    same(found.astype(np.uint16).view(F16), np.array(exact16, F16))
    packed = np.stack([bits32(row) | bits32(row[::-1].copy()) << np.uint32(16) for row in halves])
    found = run_registers("  v_pk_fma_f16 v100, v1, v2, v3", packed, [100])[0]
    same((found & np.uint32(0xFFFF)).astype(np.uint16).view(F16), np.array(exact16, F16))
    same((found >> np.uint32(16)).astype(np.uint16).view(F16), np.array(exact16, F16)[::-1])


def test_literals_of_multiply_add() -> None:
    x, y = (row.view(F32) for row in samples32(2))
    for text, order in (
        ("v_fmaak_f32 v100, v1, v2, 0x40490fdb", "xyk"),
        ("v_fmamk_f32 v100, v1, 0x40490fdb, v2", "xky"),
    ):
        k = np.full_like(x, np.uint32(0x40490FDB).view(F32))
        operands = [{"x": x, "y": y, "k": k}[name] for name in order]
        exact = [
            F32(fused(*(float(v) for v in values), F32)) for values in zip(*operands, strict=True)
        ]
        same(run32(text, x, y), np.array(exact, F32))


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [
        ("v_pack_b32_f16 v100, v1, -1.0", 1.5, -1.0),
        ("v_pack_b32_f16 v100, -v1, 4.0", -1.5, 4.0),
        ("v_pack_b32_f16 v100, 0.5, -|v1|", 0.5, -1.5),
        ("v_dot2_f16_f16 v100, v1, v2, 2.0", 8.0, 0.0),
    ],
)
def test_constants_beside_halves_have_their_format(body: str, low: float, high: float) -> None:
    ones = np.full(32, 0x40003E00, np.uint32)  # 1.5 and 2.0
    inputs = np.stack([ones, np.full(32, 0x3E004000, np.uint32)])
    found = run_registers(f"  v_mov_b32 v100, 0\n  {body}", inputs, [100])[0]
    same(found.view(F16).reshape(32, 2), np.tile(np.array([low, high], F16), (32, 1)))


def test_constants_beside_bfloats_have_their_format() -> None:
    ones = np.full(32, 0x40003FC0, np.uint32)  # 1.5 and 2.0
    found = run_registers(
        "  v_mov_b32 v100, 0\n  v_dot2_bf16_bf16 v100, v1, 1.0, -4.0", ones[None], [100]
    )[0]
    assert set(found.tolist()) == {
        0xBF00
    }  # 1.5 * 1.0 + 2.0 * 1.0 - 4.0: the constant is in both halves


def test_input_and_output_modifiers() -> None:
    x, y = (row.view(F32) for row in samples32(2))
    same(run32("v_add_f32 v100, -v1, |v2|", x, y), -x + np.abs(y))
    total = x + y
    clamped = np.where(np.isnan(total), F32(0), np.clip(total, F32(0), F32(1)))
    np.testing.assert_array_equal(run32("v_add_f32 v100, v1, v2 clamp", x, y), clamped)
    same(run32("v_add_f32 v100, 0.15915494, v1", x), F32(np.uint32(0x3E22F983).view(F32)) + x)
    same(run32("v_mul_f32 v100, 3, v1", x), np.uint32(3).view(F32) * x)
    same(run32("v_mul_dx9_zero_f32 v100, v1, v2", x, y), legacy_product(x, y))
    bits = samples32(2)
    found = run32("v_cndmask_b32 v100, -v1, |v2|, s20", *bits.view(F32), kind=np.uint32)
    np.testing.assert_array_equal(found, bits[0] ^ np.uint32(1 << 31))


def median(x: Floats, y: Floats, z: Floats) -> Floats:
    with_nan = number_minimum(number_minimum(x, y), z)
    return np.where(
        np.isnan(x) | np.isnan(y) | np.isnan(z), with_nan, np.sort(np.stack([x, y, z]), axis=0)[1]
    )


def test_median_and_three_operand_extremes() -> None:
    x, y, z = (np.where(row.view(F32) == 0, F32(0), row.view(F32)) for row in samples32(3))
    same(run32("v_med3_num_f32 v100, v1, v2, v3", x, y, z), median(x, y, z).astype(F32))
    same(run32("v_min3_num_f32 v100, v1, v2, v3", x, y, z), number_minimum(number_minimum(x, y), z))
    same(
        run32("v_maxmin_num_f32 v100, v1, v2, v3", x, y, z), number_minimum(number_maximum(x, y), z)
    )


def test_exponents_and_mantissas_of_f32_are_numpys() -> None:
    x = samples32(1)[0].view(F32)
    finite = np.isfinite(x)
    mantissa, exponent = np.frexp(x)
    same(run32("v_frexp_mant_f32 v100, v1", x), np.where(finite, mantissa, x).astype(F32))
    found = run32("v_frexp_exp_i32_f32 v100, v1", x, kind=np.int32)
    np.testing.assert_array_equal(found, np.where(finite, exponent, 0))
    fraction = np.minimum((x - np.floor(x)), F32(1 - 2**-24))
    same(run32("v_fract_f32 v100, v1", x), np.where(np.isinf(x), F32(np.nan), fraction))
    powers = np.random.default_rng(1).integers(-320, 320, x.shape, np.int32)
    same(run32("v_ldexp_f32 v100, v1, v2", x, powers), np.ldexp(x.astype(F64), powers).astype(F32))


def test_exponents_and_mantissas_of_f64_are_numpys() -> None:
    x = samples64(1)[0].view(F64)
    powers = np.random.default_rng(1).integers(-2300, 2300, x.shape, np.int32)
    inputs = np.stack([*split64(x), bits32(powers)])
    low, high = run_registers("  v_ldexp_f64 v[100:101], v[1:2], v3", inputs, [100, 101])
    same(
        join64(low, high, F64),
        np.array(
            [
                math.ldexp(a, int(b)) if _fits(a, b) else _far(a, b)
                for a, b in zip(x, powers, strict=True)
            ]
        ),
    )
    mantissa, exponent = np.frexp(x)
    finite = np.isfinite(x)
    body = "  v_frexp_mant_f64 v[100:101], v[1:2]\n  v_frexp_exp_i32_f64 v102, v[1:2]"
    low, high, found = run_registers(body, inputs, [100, 101, 102])
    same(join64(low, high, F64), np.where(finite, mantissa, x))
    np.testing.assert_array_equal(found.view(np.int32), np.where(finite, exponent, 0))


def _fits(x: float, power: int) -> bool:
    return not math.isfinite(x) or x == 0 or math.frexp(x)[1] + power <= 1024


def _far(x: float, power: int) -> float:
    return math.copysign(math.inf, x)


APPROXIMATE: dict[str, Callable[[Floats], Floats]] = {
    "v_exp_f32": np.exp2,
    "v_log_f32": np.log2,
    "v_rsq_f32": lambda x: 1 / np.sqrt(x),
    "v_sin_f32": lambda x: np.sin(2 * np.pi * (x - np.rint(x))),
    "v_cos_f32": lambda x: np.cos(2 * np.pi * (x - np.rint(x))),
}


@pytest.mark.parametrize("name", APPROXIMATE)
def test_transcendental_functions_are_near_numpys(name: str) -> None:
    random = np.random.default_rng(5)
    x = np.concatenate(
        [random.standard_normal(1024) * 50, random.random(1024), [0, -0.0, np.inf, -np.inf, np.nan]]
    )
    x = np.resize(x, 2080).astype(F32)
    found = run32(f"{name} v100, v1", x).astype(F64)
    expected = APPROXIMATE[name](x.astype(F64))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    whole = np.isfinite(expected) & (np.abs(expected) < 3e38)
    np.testing.assert_array_equal(
        found[~whole & ~np.isnan(expected)], expected[~whole & ~np.isnan(expected)].astype(F32)
    )
    error = np.abs(found[whole] - expected[whole])
    if name in ("v_sin_f32", "v_cos_f32"):
        # They are worse than others near their zeros.
        assert (error <= 2.0**-23).all()
    else:
        unit = np.spacing(np.maximum(np.abs(expected[whole]), 1e-6).astype(F32)).astype(F64)
        assert (error <= unit).all()


PREDICATES: dict[str, Callable[[Floats, Floats], NDArray[np.bool_]]] = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "lg": lambda x, y: (x < y) | (x > y),
    "ge": np.greater_equal,
    "o": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
    "u": lambda x, y: np.isnan(x) | np.isnan(y),
    "nge": lambda x, y: ~(x >= y),
    "nlg": lambda x, y: ~((x < y) | (x > y)),
    "ngt": lambda x, y: ~(x > y),
    "nle": lambda x, y: ~(x <= y),
    "neq": np.not_equal,
    "nlt": lambda x, y: ~(x < y),
}


def masks(conditions: NDArray[np.bool_]) -> NDArray[np.uint32]:
    grouped = conditions.reshape(-1, 32).astype(np.uint64)
    return (grouped << np.arange(32, dtype=np.uint64)).sum(1).astype(np.uint32).repeat(32)


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", PREDICATES)
def test_float_comparisons_are_numpys_for_each_order_and_nan(name: str) -> None:
    x, y = (row.view(F32) for row in samples32(2))
    body = f"v_cmp_{name}_f32 s20, v1, v2\n  v_mov_b32 v100, s20"
    np.testing.assert_array_equal(run32(body, x, y, kind=np.uint32), masks(PREDICATES[name](x, y)))
    body = (
        f"v_cmpx_{name}_f32 v1, v2\n  s_mov_b32 s20, exec_lo\n  s_mov_b32 exec_lo, -1\n  "
        "v_mov_b32 v100, s20"
    )
    np.testing.assert_array_equal(run32(body, x, y, kind=np.uint32), masks(PREDICATES[name](x, y)))


def classes(x: Floats) -> NDArray[np.int64]:
    """The bit of each number's class."""
    bits = x.view(np.uint32)
    quiet = (bits & np.uint32(0x400000)) != 0
    tiny = np.abs(x) < np.finfo(F32).tiny
    sign = np.signbit(x)
    result = np.where(sign, 3, 8)
    result = np.where(tiny, np.where(sign, 4, 7), result)
    result = np.where(x == 0, np.where(sign, 5, 6), result)
    result = np.where(np.isinf(x), np.where(sign, 2, 9), result)
    return np.where(np.isnan(x), np.where(quiet, 1, 0), result)


@pytest.mark.parametrize("bit", range(10))
def test_classes_of_floats_are_told_apart(bit: int) -> None:
    x = np.concatenate([samples32(1)[0], np.full(32, 0x7F800001, np.uint32)]).view(F32)
    body = f"v_mov_b32 v3, {1 << bit}\n  v_cmp_class_f32 s20, v1, v3\n  v_mov_b32 v100, s20"
    np.testing.assert_array_equal(run32(body, x, kind=np.uint32), masks(classes(x) == bit))


def test_mixed_precision_multiply_add() -> None:
    halves = samples16(2)
    low, high = (row.view(F16).astype(F32) for row in halves)
    packed = bits32(halves[0]) | bits32(halves[1]) << np.uint32(16)
    y = samples32(1)[0, : packed.size].view(F32)
    y = np.resize(y, packed.size)
    found = run32("v_fma_mix_f32 v100, v1, -v2, v1 op_sel:[0,0,1] op_sel_hi:[1,0,1]", packed, y)
    exact = [
        F32(fused(float(a), -float(b), float(c), F32)) for a, b, c in zip(low, y, high, strict=True)
    ]
    same(found, np.array(exact, F32))
    found = run32("v_fma_mix_f32 v100, v1, 2.0, 1.0 op_sel_hi:[1,1,0]", packed)
    same(found, low * F32(2) + F32(1))
    text = "v_mov_b32 v100, v1\n  v_fma_mixhi_f16 v100, v1, v1, v2 op_sel:[0,1,0] op_sel_hi:[1,1,0]"
    found = run32(text, packed, y, kind=np.uint32)
    np.testing.assert_array_equal(found & np.uint32(0xFFFF), halves[0])
    products = np.array(
        [fused(float(a), float(b), float(c), F32) for a, b, c in zip(low, high, y, strict=True)],
        F32,
    )
    same((found >> np.uint32(16)).astype(np.uint16).view(F16), products.astype(F16))


@pytest.mark.parametrize(("text", "factor"), [("mul:2", 2), ("mul:4", 4), ("div:2", 0.5)])
def test_output_factors_count_whether_or_not_denormal_results_are_flushed(
    text: str, factor: float
) -> None:
    x, y = (row.view(F32) for row in samples32(2))
    rows = np.stack([bits32(row) for row in (x, y)])
    body = f"  v_mul_f32 v100, v1, v2 {text}"
    with np.errstate(all="ignore"):
        product = x * y
    # Products below the normal numbers become +0; what only the factor makes
    # denormal keeps its sign.
    smallest = np.finfo(F32).smallest_normal
    product = np.where(np.abs(product) < smallest, F32(0), product)
    scaled = product.astype(np.float64) * factor
    expected = np.where(
        np.abs(scaled) < smallest, np.copysign(F32(0), product), scaled.astype(F32)
    ).astype(F32)
    for mode in (1, 3):
        found = run_registers(body, rows, [100], denormals=mode)[0].view(F32)
        same(found, expected)
