"""Minimum and maximum bit for bit: which NaN comes out and that it is quiet, zeros of both signs,
denormal modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.float_checks import F16, F32, F64
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

BITS = {F16: (16, np.uint16, 9), F32: (32, np.uint32, 22), F64: (64, np.uint64, 51)}
Model = Callable[[int, int, Any, bool], int]


def patterns(kind: Any) -> list[int]:
    """NaNs of both kinds and signs, zeros, infinities, denormals and other numbers."""
    width, unsigned, quiet = BITS[kind]
    numbers = [
        int(np.array(v, kind).view(unsigned))
        for v in (0.0, -0.0, 1.0, -1.0, 2.5, -np.inf, np.inf, 65504.0)
    ]
    infinity, sign = int(np.array(np.inf, kind).view(unsigned)), 1 << (width - 1)
    nans = [
        infinity | 1,
        infinity | 1 << quiet | 5,
        sign | infinity | 77,
        sign | infinity | 1 << quiet | 300,
    ]
    return [*numbers, *nans, 1, sign | 3]


def is_nan(x: int, kind: Any) -> bool:
    return bool(np.isnan(np.array(x, BITS[kind][1]).view(kind)))


def quieted(x: int, kind: Any) -> int:
    return x | 1 << BITS[kind][2]


def of_numbers(x: int, y: int, kind: Any, greater: bool) -> int:
    a, b = (np.array(v, BITS[kind][1]).view(kind) for v in (x, y))
    sign = 1 << (BITS[kind][0] - 1)
    if a == b == 0:
        return x if bool(x & sign) != greater else y
    return x if (a > b if greater else a < b) else y


def number(x: int, y: int, kind: Any, greater: bool) -> int:
    """V_MIN_NUM and V_MAX_NUM."""
    if is_nan(x, kind) and is_nan(y, kind):
        return quieted(x, kind)
    if is_nan(x, kind) or is_nan(y, kind):
        return y if is_nan(x, kind) else x
    return of_numbers(x, y, kind, greater)


def extreme(x: int, y: int, kind: Any, greater: bool) -> int:
    """V_MINIMUM and V_MAXIMUM."""
    for value in (x, y):
        if is_nan(value, kind):
            return quieted(value, kind)
    return of_numbers(x, y, kind, greater)


MODELS: dict[str, tuple[Model, bool]] = {
    "min_num": (number, False),
    "max_num": (number, True),
    "minimum": (extreme, False),
    "maximum": (extreme, True),
}


def pairs(kind: Any) -> NDArray[Any]:
    """All pairs of patterns as two rows, filled up to whole waves."""
    values = [(x, y) for x in patterns(kind) for y in patterns(kind)]
    values += values[: -len(values) % 32]
    return np.array(values, BITS[kind][1]).T


def dwords(row: NDArray[Any], kind: Any) -> list[NDArray[np.uint32]]:
    if kind == F64:
        return [
            (row & np.uint64(0xFFFFFFFF)).astype(np.uint32),
            (row >> np.uint64(32)).astype(np.uint32),
        ]
    return [row.astype(np.uint32)]


def run(instruction: str, rows: NDArray[Any], kind: Any, **options: Any) -> NDArray[Any]:
    wide = kind == F64
    names = "v[100:101], v[1:2], v[3:4]" if wide else "v100, v1, v2"
    inputs = np.stack([dword for row in rows for dword in dwords(row, kind)])
    found = run_registers(
        f"  {instruction} {names}", inputs, [100, 101] if wide else [100], **options
    )
    if wide:
        return found[0].astype(np.uint64) | found[1].astype(np.uint64) << np.uint64(32)
    return found[0].astype(BITS[kind][1])


def expected(name: str, rows: NDArray[Any], kind: Any) -> NDArray[Any]:
    model, greater = MODELS[name]
    return np.array([model(int(x), int(y), kind, greater) for x, y in rows.T], BITS[kind][1])


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", [F16, F32, F64])
@pytest.mark.parametrize("name", MODELS)
def test_every_pair_of_kinds_of_numbers(name: str, kind: Any) -> None:
    rows = pairs(kind)
    found = run(f"v_{name}_f{BITS[kind][0]}", rows, kind)
    np.testing.assert_array_equal(found, expected(name, rows, kind))


@pytest.mark.parametrize("name", MODELS)
def test_packed_and_scalar_forms_do_the_same(name: str) -> None:
    rows = pairs(F16)
    packed = rows[:, ::2].astype(np.uint32) | rows[:, 1::2].astype(np.uint32) << np.uint32(16)
    found = run_registers(
        f"  v_pk_{name}_f16 v100, v1, v2", packed[:, : packed.shape[1] // 32 * 32], [100]
    )[0]
    halves = (
        np.stack([found & np.uint32(0xFFFF), found >> np.uint32(16)], axis=1)
        .ravel()
        .astype(np.uint16)
    )
    np.testing.assert_array_equal(halves, expected(name, rows, F16)[: len(halves)])
    for kind in (F16, F32):
        rows = pairs(kind)[:, 100:130]
        text = "  v_readfirstlane_b32 s10, v1\n  v_readfirstlane_b32 s11, v2\n"
        text += f"  s_{name}_f{BITS[kind][0]} s12, s10, s11"
        each = np.repeat(rows.astype(np.uint32), 32, axis=1)
        found = run_registers(text, each, [], ["s12"])[0][::32] & np.uint32(
            (1 << BITS[kind][0]) - 1
        )
        np.testing.assert_array_equal(found, expected(name, rows, kind))


def test_the_idiom_of_compilers_quiets() -> None:
    rows = np.array([patterns(F32) + [0] * (-len(patterns(F32)) % 32)] * 2, np.uint32)
    found = run("v_max_num_f32", rows, F32)
    same = [quieted(x, F32) if is_nan(x, F32) else x for x in rows[0].tolist()]
    np.testing.assert_array_equal(found, np.array(same, np.uint32))


@pytest.mark.sample(8)
@pytest.mark.covering(2)
@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("kind", [F16, F32, F64])
@pytest.mark.parametrize("name", MODELS)
def test_only_the_mode_of_sources_flushes_what_they_return(name: str, kind: Any, mode: int) -> None:
    rows = pairs(kind)
    option = {"denormals": mode} if kind == F32 else {"wide_denormals": mode}
    given = (
        rows
        if mode & 1
        else np.where(np.abs(rows.view(kind)) < np.finfo(kind).tiny, sign_of(rows, kind), rows)
    )
    np.testing.assert_array_equal(
        run(f"v_{name}_f{BITS[kind][0]}", rows, kind, **option), expected(name, given, kind)
    )


def sign_of(rows: NDArray[Any], kind: Any) -> NDArray[Any]:
    return rows & BITS[kind][1](1 << (BITS[kind][0] - 1))
