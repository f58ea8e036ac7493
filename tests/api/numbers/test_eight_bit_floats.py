"""fp8 (e4m3fn), bf8 (e5m2), those of gfx942 (fnuz), and bf16 in kernels: conversions are those of
ml_dtypes, bit by bit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import (
    bf8,
    bf8_fnuz,
    bf8x8,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    fp8,
    fp8_fnuz,
    fp8x8,
    i8,
    i32,
    i64,
    u16,
    u64,
)
from amdjit.target import TARGETS, with_builtins_of
from amdjit.types import Scalar
from tests.api.lanes import DEVICE, assert_same_bits

STORED = (fp8, bf8, fp8_fnuz, bf8_fnuz)
# gfx1201 has instructions for the conversions, gfx1100 none.
DEVICES = (DEVICE, "emulator:gfx1100")
OCP = {fp8.dtype, bf8.dtype}
FLOATS = (f16, bf16, f32, f64, *STORED)


@pytest.fixture(autouse=True, params=DEVICES)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    with amdjit.use(request.param):
        yield


@amdjit.kernel
def converted(a, out, target: amdjit.Const):
    i = amdjit.grid(1)
    if i < len(a):
        out[i] = target(a[i])


@amdjit.kernel
def stored(a, out):
    i = amdjit.grid(1)
    if i < len(a):
        out[i] = a[i]


def check(a: NDArray[Any], target: Scalar) -> None:
    with np.errstate(all="ignore"):
        expected = a.astype(target.dtype)
        if a.dtype == np.float64 and target in STORED:
            # ml_dtypes rounds a number once, as kernels do; whole arrays of f64 it takes through
            # f32.
            expected = np.array([target.dtype.type(x) for x in a])
    out = np.zeros(len(a), target.dtype)
    converted[-(-len(a) // 256), 256](a, out, target)
    assert_same_bits(out, expected, f"{a.dtype} to {target}")
    found, wanted = out.astype(np.float32), expected.astype(np.float32)
    if amdjit.current_device().name == DEVICE and {target.dtype, a.dtype} & OCP:
        # gfx1201's instructions make one NaN of all.
        found, wanted = found[~np.isnan(wanted)], wanted[~np.isnan(wanted)]
    assert np.array_equal(np.signbit(found), np.signbit(wanted))


def codes(scalar: Scalar) -> NDArray[Any]:
    return np.arange(1 << scalar.bits, dtype=f"u{scalar.nbytes}").view(scalar.dtype)


@pytest.mark.parametrize("source", STORED, ids=str)
def test_all_codes_to_every_type(source: Scalar) -> None:
    for target in FLOATS:
        check(codes(source), target)


@pytest.mark.parametrize("target", STORED, ids=str)
@pytest.mark.parametrize("source", [f16, bf16], ids=str)
def test_all_16_bit_floats(source: Scalar, target: Scalar) -> None:
    check(codes(source), target)


def ties(scalar: Scalar, wide: Any) -> NDArray[Any]:
    """Return the values half-way between neighbours, those at the ends of the range, and what lies
    just beside."""
    with np.errstate(invalid="ignore"):
        finite = np.unique(codes(scalar).astype(wide))
    finite = finite[np.abs(finite) < 1e38]
    step = finite[-1] - finite[-2]
    ends = np.array(
        [-finite[-1] - step / 2, -finite[-1] - step, finite[-1] + step / 2, finite[-1] + step]
    )
    halves = np.concatenate([(finite[1:] + finite[:-1]) / 2, finite, ends.astype(wide)])
    return np.concatenate(
        [halves, np.nextafter(halves, wide(np.inf)), np.nextafter(halves, wide(-np.inf))]
    )


@pytest.mark.parametrize("target", [*STORED, bf16], ids=str)
def test_random_patterns_and_ties(target: Scalar) -> None:
    random = np.random.default_rng(3)
    noise = random.integers(0, 2**32, 1 << 15, dtype=np.uint32).view(np.float32)
    near = (random.standard_normal(1 << 15) * 2.0 ** random.integers(-20, 20, 1 << 15)).astype(
        np.float32
    )
    extremes = np.array([np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0, 1e38, 1e-45], np.float32)
    check(np.concatenate([noise, near, ties(target, np.float32), extremes]), target)


@pytest.mark.parametrize("target", STORED, ids=str)
def test_f64_and_integers_become_small_floats_as_in_ml_dtypes(target: Scalar) -> None:
    random = np.random.default_rng(4)
    noise = random.integers(0, 2**64, 1 << 12, dtype=np.uint64).view(np.float64)
    check(np.concatenate([noise, ties(target, np.float64)]), target)
    for source in (i8, i32, i64, u16, u64):
        limits = np.array([source.minimum, source.maximum, 0, 1, 17, 100], source.dtype)
        check(np.concatenate([limits, random.integers(0, 127, 100).astype(source.dtype)]), target)
    check(np.array([False, True]), target)


@pytest.mark.parametrize("source", STORED, ids=str)
def test_to_integers_and_booleans(source: Scalar) -> None:
    finite = codes(source)
    finite = finite[np.isfinite(finite.astype(np.float32))]
    check(finite, i32)
    check(finite, i64)
    out = np.zeros(256, np.bool_)
    converted[1, 256](codes(source), out, boolean)
    assert np.array_equal(out, codes(source).astype(np.float32) != 0)


@pytest.mark.parametrize("target", STORED, ids=str)
def test_a_store_converts(target: Scalar) -> None:
    a = np.linspace(-500, 500, 64, dtype=np.float32)
    out = np.zeros(64, target.dtype)
    stored[1, 64](a, out)
    assert_same_bits(out, a.astype(target.dtype), "store")


@amdjit.kernel
def wide(a, out, wider: amdjit.Const, narrower: amdjit.Const):
    i = 8 * amdjit.grid(1)
    out.store(i, narrower(2 * wider(a.load(i, 8))))


@pytest.mark.parametrize("vector", [fp8x8, bf8x8], ids=str)
def test_vectors_convert_element_by_element(vector: Any) -> None:
    a = np.linspace(-100, 100, 64).astype(vector.element.dtype)
    out = np.zeros_like(a)
    wide[1, 8](a, out, amdjit.f32x8, vector)
    assert_same_bits(out, (2 * a.astype(np.float32)).astype(a.dtype), "vectors")


@amdjit.kernel
def constant(out, target: amdjit.Const):
    out[0] = target(0.3)
    out[1] = target(-224)


@pytest.mark.parametrize("target", STORED, ids=str)
def test_constants_become_small_floats_as_in_ml_dtypes(target: Scalar) -> None:
    out = np.zeros(2, target.dtype)
    constant[1, 1](out, target)
    assert_same_bits(out, np.array([0.3, -224], target.dtype), "constants")


@amdjit.kernel
def least(a, out):
    out[0] = min(a[0], a[1])


def test_arithmetic_is_refused() -> None:
    a = np.zeros(2, fp8.dtype)
    with pytest.raises(amdjit.CompileError, match="but fp8 was given"):
        least[1, 1](a, a)


@pytest.mark.parametrize("target", [target.name for target in TARGETS])
def test_each_processor_converts_ocp_floats(target: str) -> None:
    """gfx942's instructions of these names convert numbers of another kind, FNUZ."""
    has_instructions = target in with_builtins_of("gfx950", "gfx1200", "gfx1201", "gfx1250")
    for arguments in ((f32[:], fp8[:], fp8), (bf8[:], f32[:], f32)):
        asm = converted.compile(*arguments, target=target).asm
        assert bool(re.search(r"v_cvt_\w*(fp8|bf8)", asm)) == has_instructions
