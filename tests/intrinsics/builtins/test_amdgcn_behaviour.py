"""What amdgcn's builtins compute, run on the emulator, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import address_of, i32, local, shared
from amdjit.intrinsics import amdgcn
from tests import complement_model

RANDOM = np.random.default_rng(13)
LANES = np.arange(32)
Array = np.ndarray[Any, Any]


@amdjit.kernel
def of_three(function: amdjit.Const, x, y, z, out):
    lane = amdjit.lane_id()
    out[lane] = function(x[lane], y[lane], z[lane])


@amdjit.kernel
def of_one(function: amdjit.Const, x, out):
    lane = amdjit.lane_id()
    out[lane] = function(x[lane])


def words(dtype: Any = np.uint32) -> Array:
    return RANDOM.integers(0, 2**32, 32, dtype=np.uint32).view(dtype)


def unpacked(values: Array, dtype: Any) -> Array:
    return np.ascontiguousarray(values)[:, None].view(dtype).astype(np.int64)


def nibbles(values: Array, signed: bool) -> Array:
    parts = (values.view(np.uint32)[:, None] >> np.arange(0, 32, 4, dtype=np.uint32)) & 15
    wide = parts.astype(np.int64)
    return np.where(signed & (wide > 7), wide - 16, wide)


def perm(x: Array, y: Array, selectors: Array) -> Array:
    joined = np.concatenate([unpacked(y, np.uint8), unpacked(x, np.uint8)], axis=1)
    chosen = np.take_along_axis(joined, unpacked(selectors, np.uint8), axis=1)
    return chosen.astype(np.uint8).view(np.uint32)[:, 0]


def absolute_differences(dtype: Any) -> Callable[[Array, Array, Array], Array]:
    return lambda x, y, z: (
        z + np.abs(unpacked(x, dtype) - unpacked(y, dtype)).sum(axis=1).astype(np.uint32)
    )


THREE: list[tuple[str, Callable[[Array, Array, Array], Array], Callable[[Array], Array]]] = [
    ("perm", perm, lambda z: z & 0x07070707),
    ("alignbit", lambda x, y, z: ((x.astype(object) << 32 | y) >> z % 32) % 2**32, lambda z: z),
    ("alignbyte", lambda x, y, z: ((x.astype(object) << 32 | y) >> z % 4 * 8) % 2**32, lambda z: z),
    ("sad_u8", absolute_differences(np.uint8), lambda z: z),
    ("sad_u16", absolute_differences(np.uint16), lambda z: z),
]


@pytest.mark.parametrize(("name", "model", "third"), THREE, ids=[name for name, *_ in THREE])
def test_operations_on_parts_of_words(
    name: str, model: Callable[..., Array], third: Callable[[Array], Array]
) -> None:
    x, y, z = words(), words(), third(words())
    out = np.zeros(32, np.uint32)
    of_three[1, 32](getattr(amdgcn, name), x, y, z, out)
    np.testing.assert_array_equal(out, model(x, y, z).astype(np.uint32))


def test_bit_field_builtins_give_what_numpy_gives() -> None:
    x, first, count = (
        words(),
        RANDOM.integers(0, 16, 32).astype(np.uint32),
        RANDOM.integers(1, 16, 32).astype(np.uint32),
    )
    unsigned, signed = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    of_three[1, 32](amdgcn.ubfe, x, first, count, unsigned)
    of_three[1, 32](amdgcn.sbfe, x, first, count, signed)
    field = (x >> first) & ((np.uint32(1) << count) - np.uint32(1))
    np.testing.assert_array_equal(unsigned, field)
    negative = (field >> (count - np.uint32(1))) & 1
    np.testing.assert_array_equal(
        signed.view(np.int32), field.astype(np.int64) - (negative.astype(np.int64) << count)
    )


@amdjit.kernel
def signed_dot(function: amdjit.Const, flags: amdjit.Const, a, b, c, out):
    lane = amdjit.lane_id()
    out[lane] = function(flags[0], a[lane], flags[1], b[lane], c[lane], flags[2])


@amdjit.kernel
def unsigned_dot(function: amdjit.Const, a, b, c, out):
    lane = amdjit.lane_id()
    out[lane] = function(a[lane], b[lane], c[lane], False)


@pytest.mark.parametrize("flags", [(True, True, False), (True, False, False), (False, True, True)])
def test_dot_products_of_bytes_and_nibbles(flags: tuple[bool, bool, bool]) -> None:
    a, b, c = words(np.int32), words(np.int32), words(np.int32)
    for name in ("sudot4", "sudot8"):
        out = np.zeros(32, np.int32)
        signed_dot[1, 32](getattr(amdgcn, name), flags, a, b, c, out)
        if name == "sudot4":
            left, right = (
                unpacked(v, np.int8 if s else np.uint8) for v, s in zip((a, b), flags, strict=False)
            )
        else:
            left, right = (nibbles(v, s) for v, s in zip((a, b), flags, strict=False))
        total = (left * right).sum(axis=1) + c
        expected = np.clip(total, -(2**31), 2**31 - 1) if flags[2] else total
        np.testing.assert_array_equal(out, expected.astype(np.int32))


def test_unsigned_dot_products_give_what_numpy_gives() -> None:
    a, b, c = words(), words(), words()
    for name, left, right in (
        ("udot4", unpacked(a, np.uint8), unpacked(b, np.uint8)),
        ("udot8", nibbles(a, False), nibbles(b, False)),
    ):
        out = np.zeros(32, np.uint32)
        unsigned_dot[1, 32](getattr(amdgcn, name), a, b, c, out)
        np.testing.assert_array_equal(out, ((left * right).sum(axis=1) + c).astype(np.uint32))


@pytest.mark.parametrize("kinds", ["fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8"])
def test_dot_products_of_8_bit_floats(kinds: str) -> None:
    types = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}
    a, b = (RANDOM.integers(-4, 5, (32, 4)).astype(types[kind]) for kind in kinds.split("_"))
    c, out = RANDOM.integers(-9, 10, 32).astype(np.float32), np.zeros(32, np.float32)
    of_three[1, 32](
        getattr(amdgcn, f"dot4_f32_{kinds}"),
        a.view(np.uint32)[:, 0],
        b.view(np.uint32)[:, 0],
        c,
        out,
    )
    np.testing.assert_array_equal(
        out, (a.astype(np.float32) * b.astype(np.float32)).sum(axis=1) + c
    )


@amdjit.kernel
def half_dot(a, b, c, out):
    lane = amdjit.lane_id()
    out[lane] = amdgcn.fdot2(a.load(2 * lane, 2), b.load(2 * lane, 2), c[lane], False)


def test_dot_product_of_half_pairs() -> None:
    a, b = (RANDOM.integers(-9, 10, 64).astype(np.float16) for _ in range(2))
    c, out = RANDOM.integers(-9, 10, 32).astype(np.float32), np.zeros(32, np.float32)
    half_dot[1, 32](a, b, c, out)
    np.testing.assert_array_equal(out, (a.astype(np.float32) * b).reshape(32, 2).sum(axis=1) + c)
    # Differences of integers may be off in their last bit on gfx11, whose sums are of one's
    # complements.
    with amdjit.use("emulator:gfx1100"):
        half_dot[1, 32](a, b, c, out)
    pairs = (np.ascontiguousarray(x).view(np.uint16).reshape(32, 2).tolist() for x in (a, b))
    steps = zip(*pairs, c.view(np.uint32).tolist(), strict=True)
    expected = [complement_model.step(x, y, z, "f16", "f32") for x, y, z in steps]
    np.testing.assert_array_equal(out.view(np.uint32), expected)


@amdjit.kernel
def moves(x, out):
    lane = amdjit.lane_id()
    # Lane i takes from lane 7 - i of its group of 8: selectors of 3 bits each.
    out[lane, 0] = amdgcn.mov_dpp8(x[lane], REVERSE_8)
    # Lane i takes from lane 15 - i of its row of 16, then of the other row: selectors of 4 bits
    # each.
    out[lane, 1] = amdgcn.permlane16(x[lane], x[lane], 0x89ABCDEF, 0x01234567, False, False)
    out[lane, 2] = amdgcn.permlanex16(x[lane], x[lane], 0x89ABCDEF, 0x01234567, False, False)


@amdjit.kernel
def signed_moves(x, out):
    lane = amdjit.lane_id()
    out[lane, 0] = amdgcn.ds_swizzle(x[lane], 0x401F)  # xor mask 16, and mask 31
    out[lane, 1] = amdgcn.ds_bpermute(4 * (lane ^ 3), x[lane])
    out[lane, 2] = amdgcn.ds_permute(4 * (lane ^ 3), x[lane])
    out[lane, 3] = amdgcn.readlane(x[lane], 9)


REVERSE_8 = sum((7 - lane) << 3 * lane for lane in range(8))


def test_builtins_that_move_between_lanes_read_the_lanes_named() -> None:
    x, out = words(), np.zeros((32, 3), np.uint32)
    moves[1, 32](x, out)
    for column, source in enumerate((LANES ^ 7, LANES ^ 15, LANES ^ 31)):
        np.testing.assert_array_equal(out[:, column], x[source], err_msg=f"column {column}")
    y, result = words(np.int32), np.zeros((32, 4), np.int32)
    signed_moves[1, 32](y, result)
    for column, source in enumerate((LANES ^ 16, LANES ^ 3, LANES ^ 3, np.full(32, 9))):
        np.testing.assert_array_equal(result[:, column], y[source], err_msg=f"column {column}")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_exact_real_builtins_give_what_numpy_gives(dtype: Any) -> None:
    letter = {2: "h", 4: "f", 8: ""}[np.dtype(dtype).itemsize]
    x = np.concatenate([RANDOM.uniform(-100, 100, 31), [0.5]]).astype(dtype)
    for name, model in (
        ("fract", lambda v: v - np.floor(v)),
        ("frexp_mant", lambda v: np.frexp(v)[0]),
    ):
        out = np.zeros_like(x)
        of_one[1, 32](getattr(amdgcn, name + letter), x, out)
        np.testing.assert_array_equal(out, model(x))
    if letter:
        y, z, out = RANDOM.permutation(x), RANDOM.permutation(x), np.zeros_like(x)
        of_three[1, 32](getattr(amdgcn, "fmed3" + letter), x, y, z, out)
        np.testing.assert_array_equal(out, np.median([x, y, z], axis=0))


@pytest.mark.parametrize("name", ["sinf", "cosf", "exp2f", "logf", "rcpf", "rsqf", "sqrtf"])
def test_approximating_builtins_are_close_to_numpy(name: str) -> None:
    models: dict[str, Callable[[Array], Array]] = {
        "sinf": lambda v: np.sin(2 * np.pi * v), "cosf": lambda v: np.cos(2 * np.pi * v),
        "exp2f": np.exp2,
        "logf": np.log2, "rcpf": np.reciprocal, "rsqf": lambda v: 1 / np.sqrt(v), "sqrtf": np.sqrt,
    }  # fmt: skip
    x, out = RANDOM.uniform(0.01, 2, 32).astype(np.float32), np.zeros(32, np.float32)
    of_one[1, 32](getattr(amdgcn, name), x, out)
    np.testing.assert_allclose(out, models[name](x.astype(np.float64)), rtol=2e-6, atol=2e-6)


@amdjit.kernel
def exponents(x, out):
    lane = amdjit.lane_id()
    out[lane] = amdgcn.ldexpf(amdgcn.frexp_mantf(x[lane]), amdgcn.frexp_expf(x[lane]))


def test_mantissa_and_exponent_make_the_number() -> None:
    x = np.ldexp(RANDOM.uniform(-1, 1, 32), RANDOM.integers(-100, 100, 32)).astype(np.float32)
    out = np.zeros_like(x)
    exponents[1, 32](x, out)
    np.testing.assert_array_equal(out, x)


def test_pointers_are_told_apart_by_their_memory() -> None:
    @amdjit.kernel(block=32)
    def kernel(out):
        tile, mine = shared.array(4, i32), local.array(4, i32)
        mine[amdjit.lane_id() % 4] = 1
        out[0] = i32(amdgcn.is_shared(address_of(tile, 0)))
        out[1] = i32(amdgcn.is_shared(address_of(mine, 1)))
        out[2] = i32(amdgcn.is_shared(address_of(out, 0)))
        out[3] = i32(amdgcn.is_private(address_of(tile, 0)))
        out[4] = i32(amdgcn.is_private(address_of(mine, 1)))
        out[5] = i32(amdgcn.is_private(address_of(out, 0)))

    found = np.full(6, 7, np.int32)
    kernel[1, 32](found)
    np.testing.assert_array_equal(found, [1, 0, 0, 0, 1, 0])
