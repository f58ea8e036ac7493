"""What only gfx950 has, apart from conversions with a scale and matrix products, against scalar
models."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.emulator.gfx950_registers import Registers, run_on_gfx950
from tests.emulator.single_instruction import samples32

LANES = 64


def _random(rows: int, lanes: int = LANES, seed: int = 1) -> Registers:
    return np.random.default_rng(seed).integers(0, 1 << 32, (rows, lanes), np.uint32)


def _table(table: int, sources: Registers) -> Registers:
    """The truth table's bit for each bit of three sources."""
    result = np.zeros_like(sources[0])
    for place in range(8):
        row = np.full_like(result, 0xFFFFFFFF)
        for number in range(3):
            row &= sources[number] if place >> 2 - number & 1 else ~sources[number]
        result |= row if table >> place & 1 else np.uint32(0)
    return result


@pytest.mark.parametrize("first", [0, 128])
def test_every_truth_table_of_three_bits(first: int) -> None:
    sources = _random(3)
    tables = range(first, first + 128)
    body = "\n".join(
        f"  v_bitop3_b32 v{20 + index}, v1, v2, v3 bitop3:{table:#x}"
        for index, table in enumerate(tables)
    )
    found = run_on_gfx950(body, sources, range(20, 148))
    for index, table in enumerate(tables):
        np.testing.assert_array_equal(found[index], _table(table, sources), err_msg=hex(table))


def test_truth_tables_of_halves() -> None:
    sources = _random(4)
    cases = [(table, table * 5 % 16) for table in range(0, 256, 17)]
    lines = []
    for index, (table, select) in enumerate(cases):
        places = ",".join(str(select >> bit & 1) for bit in range(4))
        lines += [
            f"  v_mov_b32 v{20 + index}, v4",
            f"  v_bitop3_b16 v{20 + index}, v1, v2, v3 bitop3:{table:#x} op_sel:[{places}]",
        ]
    found = run_on_gfx950("\n".join(lines), sources, range(20, 20 + len(cases)))
    for index, (table, select) in enumerate(cases):
        halves = np.stack([sources[n] >> 16 * (select >> n & 1) & 0xFFFF for n in range(3)])
        new = _table(table, halves) & 0xFFFF
        kept = sources[3] & (0xFFFF if select >> 3 else 0xFFFF0000)
        expected = kept | new << np.uint32(16 * (select >> 3))
        np.testing.assert_array_equal(found[index], expected, err_msg=hex(table))


def test_shifts_saturate_to_bytes() -> None:
    sources = _random(4, 512)
    sources[:2, :256] = sources[:2, :256] & 0x1FFFF
    sources[1] |= np.uint32(0xFFFF0000) * (sources[1] & 1)
    body = """
  v_mov_b32 v10, v4
  v_mov_b32 v11, v4
  v_ashr_pk_i8_i32 v10, v1, v2, v3
  v_ashr_pk_u8_i32 v11, v1, v2, v3 op_sel:[0,0,0,1]"""
    found = run_on_gfx950(body, sources, [10, 11])
    shifted = sources[:2].view(np.int32) >> (sources[2] & 31).astype(np.int32)
    signed = np.clip(shifted, -128, 127) & 0xFF
    unsigned = np.clip(shifted, 0, 255)
    low = (signed[0] | signed[1] << 8).astype(np.uint32)
    high = (unsigned[0] | unsigned[1] << 8).astype(np.uint32)
    np.testing.assert_array_equal(found[0], sources[3] & 0xFFFF0000 | low)
    np.testing.assert_array_equal(found[1], sources[3] & 0xFFFF | high << 16)


def test_random_numbers_are_a_shift_register() -> None:
    states = _random(1, 256)
    found = run_on_gfx950("  v_prng_b32 v10, v1", states, [10])[0]
    expected = [(state << 1 ^ (197 if state >> 31 else 0)) & 0xFFFFFFFF for state in states[0]]
    np.testing.assert_array_equal(found, np.array([int(each) for each in expected], np.uint32))


def test_bfloat16_is_the_upper_half_of_single_precision() -> None:
    every = np.arange(1 << 16, dtype=np.uint32)
    body = """
  v_cvt_f32_bf16 v10, v1
  v_cvt_f32_bf16_e64 v11, -|v1|
  v_cvt_f32_bf16_sdwa v12, v1 src0_sel:WORD_1"""
    found = run_on_gfx950(body, (every | ~every << 16)[None], [10, 11, 12])
    np.testing.assert_array_equal(found[0], every << 16)
    np.testing.assert_array_equal(found[1], (every | 0x8000) << 16)
    np.testing.assert_array_equal(found[2], ~every << 16)


def test_pairs_are_rounded_to_the_nearest() -> None:
    sources = samples32(2)
    body = """
  v_cvt_pk_f16_f32 v10, v1, v2
  v_cvt_pk_bf16_f32 v11, v1, v2
  v_cvt_pk_f16_f32 v12, v1, -v2 clamp"""
    # MODE rounds upwards: these do not.
    found = run_on_gfx950(body, sources, [10, 11, 12], rounding=1, wide_rounding=1)
    numbers = sources.view(np.float32)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        halves = numbers.astype(np.float16)
        brains = numbers.astype(ml_dtypes.bfloat16)
        units = np.clip(np.stack([numbers[0], -numbers[1]]).astype(np.float16), 0, 1)
    for index, expected in enumerate((halves, brains, np.where(np.isnan(units), 0, units))):
        for place in (0, 1):
            bits = (found[index] >> 16 * place).astype(np.uint16)
            got = bits.view(expected.dtype).astype(np.float64)
            np.testing.assert_array_equal(got, expected[place].astype(np.float64))


def _cut(bits: int, mantissa: int, lowest: int, drawn: int) -> int:
    """A finite f32's magnitude as exponent and mantissa of a format, by the random bits drawn."""
    exponent, fraction = bits >> 23 & 255, bits & 0x7FFFFF
    whole = fraction | (1 << 23 if exponent else 0)
    place = max(exponent, 1) - 127
    while whole and not whole >> 23:
        whole, place = whole << 1, place - 1
    down = max(lowest - place, 0)
    field = max(place - lowest, 0) if whole else 0
    kept = 23 - mantissa
    return (field << mantissa) + ((whole >> min(down, 63)) + drawn >> kept)


def test_random_bits_round_to_half_precision_and_bfloat16() -> None:
    sources = samples32(3)
    body = """
  v_mov_b32 v10, v3
  v_mov_b32 v11, v3
  v_cvt_sr_f16_f32 v10, v1, v2 op_sel:[0,0,1]
  v_cvt_sr_bf16_f32 v11, -v1, v2"""
    found = run_on_gfx950(body, sources, [10, 11])
    np.testing.assert_array_equal(found[0] & 0xFFFF, sources[2] & 0xFFFF)
    np.testing.assert_array_equal(found[1] >> 16, sources[2] >> 16)
    numbers = sources[0].view(np.float32)
    for lane in np.flatnonzero(np.isfinite(numbers)):
        bits, random = int(sources[0, lane]), int(sources[1, lane])
        sign = bits >> 31 << 15
        half = min(_cut(bits, 10, -14, random >> 19), 0x7C00)
        brain = min(_cut(bits, 7, -126, random >> 16), 0x7F80)
        assert found[0, lane] >> 16 == half | sign
        assert found[1, lane] & 0xFFFF == brain | sign ^ 0x8000
    is_nan = np.isnan(numbers)
    assert ((found[0, is_nan] >> 16 & 0x7E00) == 0x7E00).all()
    assert ((found[1, is_nan] & 0x7FC0) == 0x7FC0).all()


def test_extremes_of_three_propagate_nan() -> None:
    sources = samples32(3)
    body = """
  v_minimum3_f32 v10, v1, v2, v3
  v_maximum3_f32 v11, v1, -v2, v3
  v_pk_minimum3_f16 v12, v1, v2, v3
  v_pk_maximum3_f16 v13, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[0,1,1]"""
    found = run_on_gfx950(body, sources, [10, 11, 12, 13])
    singles = sources.view(np.float32)
    _same(found[0].view(np.float32), np.minimum.reduce(singles))
    _same(found[1].view(np.float32), np.maximum.reduce([singles[0], -singles[1], singles[2]]))
    low, high = ((sources >> 16 * place).astype(np.uint16).view(np.float16) for place in (0, 1))
    for place, part in enumerate((low, high)):
        bits = found[2:] >> 16 * place
        least, greatest = bits.astype(np.uint16).view(np.float16)
        _same(least, np.minimum.reduce(part))
        first = high[0] if place == 0 else low[0]
        _same(greatest, np.maximum.reduce([first, part[1], part[2]]))


def _same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(found, expected)


def _exchanged(first: Registers, second: Registers, rows: int) -> tuple[Registers, Registers]:
    """The ISA document's loop for V_PERMLANE16_SWAP and V_PERMLANE32_SWAP."""
    first, second = first.copy(), second.copy()
    for start in range(0, LANES, 2 * rows):
        for lane in range(start, start + rows):
            first[lane + rows], second[lane] = second[lane], first[lane + rows]
    return first, second


@pytest.mark.parametrize("rows", [16, 32])
def test_rows_of_two_registers_change_places(rows: int) -> None:
    sources = _random(2)
    body = f"""
  v_mov_b32 v10, v1
  v_mov_b32 v11, v2
  v_permlane{rows}_swap_b32 v10, v11
  v_mov_b32 v12, v1
  v_permlane{rows}_swap_b32 v12, v12"""
    found = run_on_gfx950(body, sources, [10, 11, 12])
    expected = _exchanged(*sources, rows)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[2], sources[0][np.arange(LANES) ^ rows])


@pytest.mark.parametrize("rows", [16, 32])
@pytest.mark.parametrize("control", ["", "bound_ctrl:1", "fi:1"])
def test_inactive_lanes_do_not_change_places(rows: int, control: str) -> None:
    sources = _random(2)
    body = f"""
  v_mov_b32 v10, v1
  v_mov_b32 v11, v2
  s_mov_b32 exec_lo, 0x12345678
  s_mov_b32 exec_hi, 0x9abcdef0
  v_permlane{rows}_swap_b32_e64 v10, v11 {control}"""
    found = run_on_gfx950(body, sources, [10, 11])
    active = np.array([0x9ABCDEF012345678 >> lane & 1 for lane in range(LANES)], bool)
    partner = active[np.arange(LANES) ^ rows]
    changed = np.arange(LANES) // rows % 2 == 1
    for register, (old, new) in enumerate(zip(sources, _exchanged(*sources, rows), strict=True)):
        moves = changed if register == 0 else ~changed
        if control == "bound_ctrl:1":
            new = np.where(moves & ~partner, 0, new)
        lanes = active if control else active & (partner | ~moves)
        np.testing.assert_array_equal(found[register], np.where(lanes, new, old))


@pytest.mark.parametrize(("bits", "size"), [(16, 8), (8, 8), (4, 8), (6, 12)])
def test_rows_of_16_lanes_read_columns(bits: int, size: int) -> None:
    """The map of rocRoller's TransposeLoadsTest: 16 lanes read a matrix with 16 columns."""
    dwords = size // 4
    sources = _random(dwords, seed=bits)
    stores = "\n".join(
        f"  ds_write_b32 v20, v{1 + dword} offset:{4 * dword}" for dword in range(dwords)
    )
    body = f"""
  v_lshlrev_b32 v20, 2, v250
{stores}
  s_waitcnt lgkmcnt(0)
  ds_read_b{8 * size}_tr_b{bits} v[10:{9 + dwords}], v20
  s_waitcnt lgkmcnt(0)"""
    found = run_on_gfx950(body, sources, range(10, 10 + dwords), lds=1024)
    before, after = (_elements(registers, bits) for registers in (sources, found))
    for row in range(0, LANES, 16):
        matrix = before[row : row + 16].reshape(-1, 16)
        np.testing.assert_array_equal(after[row : row + 16], matrix.T)


def _elements(registers: Registers, bits: int) -> np.ndarray:
    """Lanes by elements."""
    count = 32 * len(registers) // bits
    whole = [
        sum(int(row[lane]) << 32 * index for index, row in enumerate(registers))
        for lane in range(LANES)
    ]
    mask = (1 << bits) - 1
    return np.array([[each >> bits * index & mask for index in range(count)] for each in whole])


def test_lds_has_160_kib() -> None:
    body = """
  v_lshlrev_b32 v20, 2, v250
  v_add_u32 v20, 163840-1024, v20
  ds_write_b128 v20, v[2:5]
  s_waitcnt lgkmcnt(0)
  ds_read_b96 v[10:12], v20 offset:4
  s_waitcnt lgkmcnt(0)"""
    sources = _random(4)
    found = run_on_gfx950(body, sources, [10, 11, 12], first=2, lds=160 * 1024)
    np.testing.assert_array_equal(found, sources[1:])
