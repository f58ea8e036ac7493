"""Exchanges whose pattern is in the instruction, votes and matches, run on the emulator against
their models."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import amdjit
from amdjit import i32, u32
from amdjit.intrinsics import wave

RANDOM = np.random.default_rng(14)


@amdjit.kernel
def exchange(values, others, out):
    i = amdjit.lane_id()
    value = values[i]
    out[0, i] = wave.quad_perm(value, 2, 2, 0, 1)
    out[1, i] = wave.row_shl(value, 3)
    out[2, i] = wave.row_shr(value, 5)
    out[3, i] = wave.row_ror(value, 7)
    out[4, i] = wave.row_share(value, 9)
    out[5, i] = wave.row_xmask(value, 6)
    out[6, i] = wave.row_mirror(value)
    out[7, i] = wave.row_half_mirror(value)
    out[8, i] = wave.permute8(value, 7, 1, 1, 0, 4, 6, 5, 2)
    out[9, i] = wave.permlane16(value, u32(0x1F2E3D40), u32(0x83A5B4C7))
    out[10, i] = wave.permlanex16(value, u32(0x1F2E3D40), u32(0x83A5B4C7))
    out[11, i] = wave.swizzle(value, 21, 2, 12)
    out[12, i] = wave.writelane(value, wave.readlane(others[i], 3), 17)
    out[13, i] = wave.broadcast(value, 21)
    # Rows 0 and 2, banks 1 and 3: the others keep what they had.
    out[14, i] = wave.dpp(others[i], value, 0x112, row_mask=5, bank_mask=10)
    out[15, i] = wave.dpp(others[i], value, 0x112, zero=True)
    out[16, i] = wave.dpp(others[i], value, 0x112)


def models(values: Any, others: Any) -> list[Any]:
    lane = np.arange(len(values))
    place = lane % 16
    source = values[np.maximum(lane - 2, 0)]
    chosen = np.isin(lane // 16, (0, 2)) & np.isin(lane % 16 // 4, (1, 3)) & (place >= 2)
    low, high = 0x1F2E3D40, 0x83A5B4C7
    return [
        wave.quad_perm(values, 2, 2, 0, 1),
        np.where(place < 13, np.roll(values, -3), 0),
        np.where(place >= 5, np.roll(values, 5), 0),
        np.roll(values.reshape(-1, 16), 7, axis=1).ravel(),
        np.repeat(values[9::16], 16),
        values[lane ^ 6],
        values.reshape(-1, 16)[:, ::-1].ravel(),
        values.reshape(-1, 8)[:, ::-1].ravel(),
        values.reshape(-1, 8)[:, [7, 1, 1, 0, 4, 6, 5, 2]].ravel(),
        wave.permlane16(values, low, high),
        wave.permlanex16(values, low, high),
        wave.swizzle(values, 21, 2, 12),
        wave.writelane(values, wave.readlane(others, 3), 17),
        np.full_like(values, values[21]),
        np.where(chosen, source, others),
        np.where(place >= 2, source, 0),
        np.where(place >= 2, source, others),
    ]


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f2", "f4", "f8"])
def test_patterns_move_values_of_every_width(dtype: str, wave_size: int) -> None:
    values, others = (RANDOM.integers(1, 100, wave_size).astype(dtype) for _ in range(2))
    out = np.zeros((17, wave_size), dtype)
    amdjit.kernel(wave_size=wave_size)(exchange.function)[1, wave_size](values, others, out)
    for number, wanted in enumerate(models(values, others)):
        np.testing.assert_array_equal(out[number], wanted, err_msg=f"row {number}")


def test_the_models_of_patterns_are_the_isa_documents_rules() -> None:
    lane = np.arange(64)
    np.testing.assert_array_equal(wave.quad_perm(lane, 3, 2, 1, 0), lane ^ 3)
    np.testing.assert_array_equal(wave.row_shl(lane + 1, 3), np.where(lane % 16 < 13, lane + 4, 0))
    np.testing.assert_array_equal(wave.row_shr(lane + 1, 3), np.where(lane % 16 >= 3, lane - 2, 0))
    np.testing.assert_array_equal(wave.row_ror(lane, 4), lane - lane % 16 + (lane - 4) % 16)
    np.testing.assert_array_equal(wave.row_share(lane, 5), lane - lane % 16 + 5)
    np.testing.assert_array_equal(wave.row_mirror(lane), lane ^ 15)
    np.testing.assert_array_equal(wave.row_half_mirror(lane), lane ^ 7)
    np.testing.assert_array_equal(wave.row_xmask(lane, 9), lane ^ 9)
    np.testing.assert_array_equal(wave.permute8(lane, 7, 6, 5, 4, 3, 2, 1, 0), lane ^ 7)
    np.testing.assert_array_equal(wave.permlanex16(lane, 0x76543210, 0xFEDCBA98), lane ^ 16)
    np.testing.assert_array_equal(wave.permlane64(lane), lane ^ 32)
    np.testing.assert_array_equal(wave.swizzle(lane, 31, 0, 16), lane ^ 16)
    np.testing.assert_array_equal(wave.swizzle(lane, 0, 6, 0), lane - lane % 32 + 6)


@amdjit.kernel(wave_size=64)
def halves(values, out):
    i = amdjit.lane_id()
    out[i] = wave.permlane64(values[i])


def test_halves_change_places_in_waves_of_64_lanes_only() -> None:
    values, out = RANDOM.random(64), np.zeros(64)
    halves[1, 64](values, out)
    np.testing.assert_array_equal(out, wave.permlane64(values))
    assert halves.compile(amdjit.f32[:], amdjit.f32[:]).asm_full.count("v_permlane64_b32") == 1
    with pytest.raises(amdjit.TargetError, match="64"):
        amdjit.kernel(wave_size=32)(halves.function).compile(amdjit.f32[:], amdjit.f32[:])


@amdjit.kernel
def matches(values, heads, out, same, sums):
    i = amdjit.grid(1)
    if i < values.shape[0]:
        out[i] = wave.match_any(values[i])
        same[i] = i32(wave.match_all(values[i]))
        sums[i] = wave.segmented_reduce(values[i], heads[i] != 0, "max")


@pytest.mark.sample(3)
@pytest.mark.covering(1)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("dtype", ["i4", "u8", "f2", "f4", "f8"])
def test_lanes_find_those_with_the_same_value(dtype: str, wave_size: int) -> None:
    count = 3 * wave_size - 7
    values = RANDOM.integers(0, 5, count).astype(dtype)
    values[:wave_size] = 3
    if dtype[0] == "f":
        values[wave_size : wave_size + 9] = np.nan
    heads = (RANDOM.random(count) < 0.2).astype(np.int32)
    out, same, sums = np.zeros(count, np.uint64), np.zeros(count, np.int32), np.zeros_like(values)
    amdjit.kernel(wave_size=wave_size)(matches.function)[1, 3 * wave_size](
        values, heads, out, same, sums
    )
    bits = values.view(f"u{values.itemsize}")
    for start in range(0, count, wave_size):
        part = bits[start : start + wave_size]
        wanted = [sum(1 << int(lane) for lane in np.flatnonzero(part == one)) for one in part]
        assert out[start : start + wave_size].tolist() == wanted
        assert (same[start : start + wave_size] == (part == part[0]).all()).all()
        cuts = [0, *(np.flatnonzero(heads[start + 1 : start + len(part)]) + 1).tolist(), len(part)]
        for low, high in itertools.pairwise(cuts):
            segment = slice(start + low, start + high)
            np.testing.assert_array_equal(sums[segment], np.fmax.reduce(values[segment]))


@pytest.mark.parametrize("wave_size", [32, 64])
def test_nan_of_bf16_has_its_bits_for_value(wave_size: int) -> None:
    """Once the search for a NaN of bf16 did not end: it was compared as a number."""
    values = np.full(wave_size, np.nan).astype(ml_dtypes.bfloat16)
    values[5], heads = 1, np.ones(wave_size, np.int32)
    out, same, sums = (
        np.zeros(wave_size, np.uint64),
        np.zeros(wave_size, np.int32),
        np.zeros_like(values),
    )
    amdjit.kernel(wave_size=wave_size)(matches.function)[1, wave_size](
        values, heads, out, same, sums
    )
    assert out[5] == 32
    assert set(out.tolist()) == {32, (1 << wave_size) - 1 - 32}
    assert not same.any()


@amdjit.kernel
def one_of_each(x, out):
    i = amdjit.grid(1)
    out[i] = wave.reduce(x[i], "add") + wave.inclusive_scan(x[i], "max")


def test_a_combination_has_one_exchange_a_step() -> None:
    assembly = one_of_each.compile(amdjit.f32[:], amdjit.f32[:]).asm_full
    assert assembly.count("row_xmask") == 4
    assert assembly.count("row_shr") == 4
    assert assembly.count("v_permlanex16_b32") == 2
    assert "ds_bpermute" not in assembly
    assert "v_add_f32_dpp" in assembly


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("wave.row_shl(x[i], 16)", "1..15"),
        ("wave.quad_perm(x[i], 0, 1, 2, 4)", "0..3"),
        ("wave.reduce(x[i], 'and')", "and"),
        ("wave.reduce(x[i], 'sum')", "'add'"),
        ("wave.dpp(x[i], x[i], 0x130)", "control"),
    ],
)
def test_wrong_patterns_and_operations_are_refused(call: str, message: str, tmp_path: Any) -> None:
    path = tmp_path / "refused.py"
    path.write_text(
        "import amdjit\nfrom amdjit.intrinsics import wave\n\n"
        f"@amdjit.kernel\ndef refused(x):\n    i = amdjit.grid(1)\n    x[i] = {call}\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(amdjit.CompileError, match=message):
        namespace["refused"].compile(amdjit.f32[:])


@pytest.mark.parametrize("name", ["row_share", "row_xmask"])
def test_processors_without_these_patterns_are_told_what_to_use(name: str) -> None:
    function = getattr(wave, name)

    def kernel(x, out):
        out[amdjit.grid(1)] = function(x[amdjit.grid(1)], 1)

    with pytest.raises(amdjit.TargetError, match="shuffle"):
        amdjit.kernel(kernel).compile(amdjit.f32[:], amdjit.f32[:], target="gfx942")
