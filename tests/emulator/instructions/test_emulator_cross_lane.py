"""Moves between lanes, DPP among them, against a model that works lane by lane."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers, samples32

pytestmark = needs_tools

Lanes = NDArray[np.uint32]
PARTIAL = 0xF0F1_37FE


def waves(row: Lanes) -> Lanes:
    return row.reshape(-1, 32)


def dpp_source(control: str, lane: int) -> int | None:
    """The lane that `lane` reads, None outside of the row of 16."""
    name, _, value = control.partition(":")
    row, place = lane // 16 * 16, lane % 16
    if name == "quad_perm":
        return lane // 4 * 4 + int(value.strip("[]").split(",")[lane % 4])
    moved = {
        "row_shl": lambda n: place + n,
        "row_shr": lambda n: place - n,
        "row_ror": lambda n: (place - n) % 16,
        "row_mirror": lambda n: 15 - place,
        "row_half_mirror": lambda n: place // 8 * 8 + 7 - place % 8,
        "row_share": lambda n: n,
        "row_xmask": lambda n: place ^ n,
    }[name](int(value or 0))
    return row + moved if 0 <= moved < 16 else None


CONTROLS = [
    "quad_perm:[3,1,0,2]",
    "row_shl:1",
    "row_shl:15",
    "row_shr:1",
    "row_shr:7",
    "row_ror:5",
    "row_mirror",
    "row_half_mirror",
    "row_share:6",
    "row_xmask:9",
]


def dpp_model(
    values: Lanes,
    old: Lanes,
    control: str,
    execution: int,
    bound: bool,
    fetch: bool,
    rows: int,
    banks: int,
) -> tuple[Lanes, NDArray[np.bool_]]:
    """Return what each lane reads, and which lanes are written."""
    read, written = np.zeros_like(values), np.zeros(values.shape, bool)
    for wave in range(len(values)):
        for lane in range(32):
            source = dpp_source(control, lane)
            valid = source is not None and (fetch or execution >> source & 1)
            if valid:
                assert source is not None
                read[wave, lane] = values[wave, source]
            active = execution >> lane & 1 and rows >> lane // 16 & 1 and banks >> lane // 4 % 4 & 1
            written[wave, lane] = bool(active and (valid or bound))
    return read, written


@pytest.mark.covering(2)
@pytest.mark.parametrize("execution", [0xFFFFFFFF, PARTIAL])
@pytest.mark.parametrize("bound", [0, 1])
@pytest.mark.parametrize("control", CONTROLS)
def test_dpp_moves_read_the_lanes_of_the_model(control: str, bound: int, execution: int) -> None:
    """One kernel makes all moves, into registers of their own."""
    inputs = samples32(2)[:, :256]
    moves = {100: (15, 15, 0), 101: (15, 15, 1), 102: (2, 13, 0), 103: (5, 6, 1)}
    lines = [f"  v_mov_b32 v{register}, v2" for register in moves]
    lines.append(f"  s_mov_b32 exec_lo, {execution:#x}")
    for register, (rows, banks, fetch) in moves.items():
        flags = f"{' bound_ctrl:1' if bound else ''}{' fi:1' if fetch else ''}"
        masks = f"row_mask:{rows} bank_mask:{banks}"
        lines.append(f"  v_mov_b32_dpp v{register}, v1 {control} {masks}{flags}")
    results = run_registers("\n".join(lines), inputs, list(moves))
    for result, (rows, banks, fetch) in zip(results, moves.values(), strict=True):
        found = waves(result)
        values, old = waves(inputs[0]), waves(inputs[1])
        read, written = dpp_model(
            values, old, control, execution, bool(bound), bool(fetch), rows, banks
        )
        np.testing.assert_array_equal(found, np.where(written, read, old))


@pytest.mark.parametrize("encoding", ["e32", "e64"])
def test_dpp_on_arithmetic_reads_the_lanes_of_the_model(encoding: str) -> None:
    inputs = samples32(3)[:, :256]
    instruction = "v_sub_nc_u32_dpp" if encoding == "e32" else "v_sub_nc_u32_e64_dpp"
    body = f"""  v_mov_b32 v100, v3
  s_mov_b32 exec_lo, {PARTIAL:#x}
  {instruction} v100, v1, v2 row_shr:3 row_mask:0xf bank_mask:0xb"""
    found = waves(run_registers(body, inputs, [100])[0])
    values, right, old = (waves(row) for row in inputs)
    read, written = dpp_model(values, old, "row_shr:3", PARTIAL, False, False, 15, 11)
    np.testing.assert_array_equal(found, np.where(written, read - right, old))


def test_dpp_applies_float_modifiers_to_what_was_read() -> None:
    plain = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
    body = "  v_add_f32_dpp v100, -|v1|, v2 row_xmask:5 row_mask:0xf bank_mask:0xf"
    found = run_registers(body, plain.view(np.uint32), [100])[0].view(np.float32)
    order = np.arange(64) ^ 5
    np.testing.assert_array_equal(found, -np.abs(plain[0][order]) + plain[1])


def test_dpp_comparisons_write_zero_where_nothing_is_read() -> None:
    inputs = samples32(2)[:, :64]
    body = (
        "  v_cmp_eq_u32_e64_dpp s20, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n  v_mov_b32 "
        "v100, s20"
    )
    found = waves(run_registers(body, inputs, [100])[0])[:, 0]
    values = waves(inputs[0])
    for wave, mask in enumerate(found):
        expected = sum(
            1 << n for n in range(32) if n % 16 and values[wave, n] == values[wave, n - 1]
        )
        assert mask == expected


@pytest.mark.parametrize("fetch", [0, 1])
def test_dpp8_reads_the_lanes_of_the_model(fetch: int) -> None:
    inputs = samples32(2)[:, :256]
    order = (7, 0, 6, 1, 5, 2, 4, 3)
    text = ",".join(map(str, order))
    body = f"""  v_mov_b32 v100, v2
  s_mov_b32 exec_lo, {PARTIAL:#x}
  v_mov_b32_dpp v100, v1 dpp8:[{text}]{" fi:1" if fetch else ""}"""
    found = waves(run_registers(body, inputs, [100])[0])
    values, old = (waves(row) for row in inputs)
    lanes = np.arange(32)
    sources = lanes // 8 * 8 + np.array(order)[lanes % 8]
    active = (PARTIAL >> lanes & 1).astype(bool)
    read = np.where(active[sources] | bool(fetch), values[:, sources], 0)
    np.testing.assert_array_equal(found, np.where(active, read, old))


@pytest.mark.covering(2)
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(("fetch", "bound"), [(0, 0), (0, 1), (1, 0)])
def test_permutation_within_and_across_rows(
    other: bool, fetch: int, bound: int, known: bool
) -> None:
    inputs = samples32(2)[:, :256]
    low, high = 0x76543210, 0xFEDC0A91
    name = "v_permlanex16_b32" if other else "v_permlane16_b32"
    body = f"""  v_mov_b32 v100, v2
  s_mov_b32 s20, {low:#x}
  s_mov_b32 s21, {high:#x}
  s_mov_b32 exec_lo, {PARTIAL:#x}
  {"" if known else "v_mov_b32 v101, s20"}
  {"" if known else "v_readfirstlane_b32 s20, v101"}
  {name} v100, v1, s20, s21 op_sel:[{fetch},{bound}]"""
    found = waves(run_registers(body, inputs, [100])[0])
    values, old = (waves(row) for row in inputs)
    expected = old.copy()
    for lane in range(32):
        select = (high << 32 | low) >> 4 * (lane % 16) & 15
        source = (lane // 16 * 16 ^ (16 if other else 0)) + select
        if not PARTIAL >> lane & 1:
            continue
        if fetch or PARTIAL >> source & 1:
            expected[:, lane] = values[:, source]
        elif bound:
            expected[:, lane] = 0
    np.testing.assert_array_equal(found, expected)


def test_permutation_by_a_register() -> None:
    inputs = samples32(2)[:, :256]
    found = waves(run_registers("  v_permlane16_var_b32 v100, v1, v2", inputs, [100])[0])
    values, select = (waves(row) for row in inputs)
    lanes = np.arange(32)
    sources = lanes // 16 * 16 + (select & np.uint32(15))
    np.testing.assert_array_equal(found, np.take_along_axis(values, sources.astype(np.int64), 1))


def test_reading_and_writing_single_lanes() -> None:
    inputs = samples32(2)[:, :64]
    body = """  s_mov_b32 s22, 37
  v_readlane_b32 s20, v1, s22
  v_readlane_b32 s21, v1, 31
  v_mov_b32 v100, v2
  s_mov_b32 exec_lo, 0
  v_writelane_b32 v100, s20, 7
  v_readfirstlane_b32 s23, v1
  s_mov_b32 exec_lo, 0xff00
  v_readfirstlane_b32 s24, v1
  s_mov_b32 exec_lo, -1"""
    found = run_registers(body, inputs, [100], ["s20", "s21", "s23", "s24"])
    values, old = (waves(row) for row in inputs)
    for index, lane in enumerate((5, 31, 0, 8)):
        np.testing.assert_array_equal(
            waves(found[1 + index]), np.repeat(values[:, lane : lane + 1], 32, 1)
        )
    expected = old.copy()
    expected[:, 7] = values[:, 5]
    np.testing.assert_array_equal(waves(found[0]), expected)


@pytest.mark.parametrize("execution", [0xFFFFFFFF, PARTIAL])
def test_permutation_through_lds_addresses(execution: int) -> None:
    inputs = samples32(2)[:, :256]
    body = f"""  v_mov_b32 v100, -1
  v_mov_b32 v101, -1
  s_mov_b32 exec_lo, {execution:#x}
  ds_bpermute_b32 v100, v2, v1
  ds_permute_b32 v101, v2, v1
  s_wait_dscnt 0x0"""
    found = run_registers(body, inputs, [100, 101])
    values, address = (waves(row) for row in inputs)
    active = [lane for lane in range(32) if execution >> lane & 1]
    for wave in range(len(values)):
        pulled, pushed = (
            np.full(32, -1, np.int32).view(np.uint32),
            np.full(32, -1, np.int32).view(np.uint32),
        )
        pushed[active] = 0
        for lane in active:
            source = int(address[wave, lane]) // 4 % 32
            pulled[lane] = values[wave, source] if source in active else 0
        for lane in active:
            target = int(address[wave, lane]) // 4 % 32
            if target in active:
                pushed[target] = values[wave, lane]
        np.testing.assert_array_equal(waves(found[0])[wave], pulled)
        np.testing.assert_array_equal(waves(found[1])[wave], pushed)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ('swizzle(QUAD_PERM, 2, 0, 3, 1)', lambda lane: lane // 4 * 4 + (2, 0, 3, 1)[lane % 4]),
        ('swizzle(SWAP, 8)', lambda lane: lane ^ 8),
        ('swizzle(REVERSE, 16)', lambda lane: lane ^ 15),
        ('swizzle(BROADCAST, 4, 3)', lambda lane: lane // 4 * 4 + 3),
        ('swizzle(BITMASK_PERM, "01pip")', lambda lane: lane & 5 | 8 | ~lane & 2),
    ],
)  # fmt: skip
def test_ds_swizzle_reads_the_lanes_of_the_model(text: str, source: object) -> None:
    inputs = samples32(1)[:, :256]
    body = f"""  v_mov_b32 v100, -1
  s_mov_b32 exec_lo, {PARTIAL:#x}
  ds_swizzle_b32 v100, v1 offset:{text}
  s_wait_dscnt 0x0"""
    found = waves(run_registers(body, inputs, [100])[0])
    values = waves(inputs[0])
    for lane in range(32):
        place = source(lane)  # type: ignore[operator]
        if not PARTIAL >> lane & 1:
            assert (found[:, lane] == 0xFFFFFFFF).all()
        elif PARTIAL >> place & 1:
            np.testing.assert_array_equal(found[:, lane], values[:, place])
        else:
            assert (found[:, lane] == 0).all()


def test_registers_by_number_in_m0() -> None:
    inputs = samples32(6)[:, :64]
    body = """  s_mov_b32 m0, 3
  v_movrels_b32 v100, v2
  v_movreld_b32 v101, v1
  s_mov_b32 m0, 0x50002
  v_movrelsd_2_b32 v105, v2"""
    found = run_registers(body, inputs, [100, 104, 110])
    np.testing.assert_array_equal(found, inputs[[4, 0, 3]])


def test_swaps_exchange_registers_in_active_lanes() -> None:
    inputs = samples32(2)[:, :64]
    body = f"  s_mov_b32 exec_lo, {PARTIAL:#x}\n  v_swap_b32 v1, v2"
    found = run_registers(body, inputs, [1, 2])
    active = (PARTIAL >> np.arange(32) & 1).astype(bool)
    left, right = (waves(row) for row in inputs)
    np.testing.assert_array_equal(waves(found[0]), np.where(active, right, left))
    np.testing.assert_array_equal(waves(found[1]), np.where(active, left, right))
