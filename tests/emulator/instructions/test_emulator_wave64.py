"""The differences in waves of 64 lanes: masks in pairs of registers, and moves between the two
halves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import Registers, run_registers

pytestmark = needs_tools

LANES = np.arange(64, dtype=np.uint32)
MASKS = [(1 << 64) - 1, 0xF0F1_37FE_8421_0C35, 0x8000_0000 << 32, 1, 0]


def random_rows(rows: int, seed: int = 1) -> Registers:
    return np.random.default_rng(seed).integers(0, 1 << 32, (rows, 64), np.uint32)


def active_lanes(mask: int) -> NDArray[np.bool_]:
    return np.array([bool(mask >> lane & 1) for lane in range(64)])


def as_mask(conditions: NDArray[np.bool_]) -> int:
    return sum(1 << lane for lane in range(64) if conditions[lane])


def set_exec(mask: int) -> str:
    return f"  s_mov_b32 exec_lo, 0x{mask & 0xFFFFFFFF:x}\n  s_mov_b32 exec_hi, 0x{mask >> 32:x}\n"


def run(
    body: str, inputs: Registers, outputs: list[int], scalars: list[str] | None = None
) -> Registers:
    return run_registers(body, inputs, outputs, scalars, wave_size=64)


def pair(found: Registers, first: int) -> int:
    return int(found[first, 0]) | int(found[first + 1, 0]) << 32


@pytest.mark.parametrize("mask", MASKS)
def test_comparisons_of_64_lanes_write_pairs_of_registers(mask: int) -> None:
    x, y = inputs = random_rows(2)
    body = f"""  s_mov_b32 s10, 0x80000000
  s_mov_b32 s11, 0x40000000
{set_exec(mask)}
  v_cmp_lt_u32 s[12:13], v1, v2
  v_cmp_lt_u32 s[10:11], s10, v1
  v_cmp_gt_i32 vcc, v1, v2"""
    found = run(body, inputs, [], ["s12", "s13", "s10", "s11", "vcc_lo", "vcc_hi"])
    active = active_lanes(mask)
    assert pair(found, 0) == as_mask((x < y) & active)
    assert pair(found, 2) == as_mask((x > 0x80000000) & active), (
        "both halves compare with the old s10"
    )
    assert pair(found, 4) == as_mask((x.view(np.int32) > y.view(np.int32)) & active)


@pytest.mark.parametrize("mask", MASKS)
def test_comparisons_that_write_exec(mask: int) -> None:
    x, y = inputs = random_rows(2)
    body = f"{set_exec(mask)}  v_cmpx_lt_u32 v1, v2\n  s_mov_b64 s[10:11], exec\n  v_mov_b32 v1, 7"
    found = run(body, inputs, [1], ["s10", "s11"])
    assert pair(found, 1) == as_mask((x < y) & active_lanes(mask))
    np.testing.assert_array_equal(found[0], np.where((x < y) & active_lanes(mask), 7, x))


def test_masks_choose_and_carry_in_both_halves() -> None:
    x, y = inputs = random_rows(2)
    body = """  s_mov_b32 s10, 0x0ff012c5
  s_mov_b32 s11, 0x93a0ffee
  v_cndmask_b32 v100, v1, v2, s[10:11]
  v_add_co_u32 v102, vcc, v1, v2
  v_add_co_ci_u32 v103, vcc, v1, v2, vcc
  v_subrev_co_u32 v104, s[12:13], v1, v2"""
    found = run(body, inputs, [100, 102, 103, 104], ["vcc_lo", "vcc_hi", "s12", "s13"])
    wide = x.astype(np.uint64) + y
    carry = wide >> np.uint64(32)
    np.testing.assert_array_equal(found[0], np.where(active_lanes(0x93A0FFEE_0FF012C5), y, x))
    np.testing.assert_array_equal(found[1], wide.astype(np.uint32))
    np.testing.assert_array_equal(found[2], (wide + carry).astype(np.uint32))
    assert pair(found, 4) == as_mask(wide + carry > 0xFFFFFFFF)
    assert pair(found, 6) == as_mask(y < x)


@pytest.mark.parametrize("lane", [0, 5, 31, 32, 63, 64 + 40])
def test_single_lanes_are_read_and_written(lane: int) -> None:
    inputs = random_rows(1)
    body = (
        f"  s_mov_b32 s9, {lane}\n  v_readlane_b32 s10, v1, s9\n  s_mov_b64 exec, 0\n  "
        "v_writelane_b32 v1, 77, s9"
    )
    found = run(body, inputs, [1], ["s10"])
    assert found[1, 0] == inputs[0, lane % 64]
    np.testing.assert_array_equal(found[0], np.where(lane % 64 == LANES, 77, inputs[0]))


@pytest.mark.parametrize("mask", MASKS)
def test_the_first_active_lane(mask: int) -> None:
    inputs = random_rows(1)
    found = run(f"{set_exec(mask)}  v_readfirstlane_b32 s10, v1", inputs, [], ["s10"])
    first = next((lane for lane in range(64) if mask >> lane & 1), 0)
    assert found[0, 0] == inputs[0, first]


@pytest.mark.parametrize("mask", MASKS)
def test_lanes_below_are_counted(mask: int) -> None:
    body = (
        f"{set_exec(mask)}  v_mbcnt_lo_u32_b32 v1, exec_lo, v1\n  v_mbcnt_hi_u32_b32 v1, "
        "exec_hi, v1"
    )
    inputs = random_rows(1)
    found = run(body, inputs, [1])
    below = np.array([bin(mask & ((1 << lane) - 1)).count("1") for lane in range(64)], np.uint32)
    np.testing.assert_array_equal(
        found[0], np.where(active_lanes(mask), inputs[0] + below, inputs[0])
    )


@pytest.mark.parametrize("mask", MASKS)
def test_permlane64_swaps_the_halves_of_a_wave(mask: int) -> None:
    inputs = random_rows(2)
    found = run(f"{set_exec(mask)}  v_permlane64_b32 v2, v1", inputs, [2])
    np.testing.assert_array_equal(
        found[0], np.where(active_lanes(mask), inputs[0][LANES ^ 32], inputs[1])
    )


@pytest.mark.covering(1)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("fetch", [False, True])
def test_any_lane_of_the_wave_is_fetched_through_lds_addresses(mask: int, fetch: bool) -> None:
    inputs = random_rows(3)
    name = "ds_bpermute_fi_b32" if fetch else "ds_bpermute_b32"
    found = run(f"{set_exec(mask)}  {name} v3, v1, v2 offset:12\n  s_wait_dscnt 0", inputs, [3])
    source = (inputs[0] + np.uint32(12)) // 4 % 64
    active = active_lanes(mask)
    read = np.where(active[source] | fetch, inputs[1][source], 0)
    np.testing.assert_array_equal(found[0], np.where(active, read, inputs[2]))


@pytest.mark.parametrize("mask", MASKS)
def test_any_lane_of_the_wave_is_written_through_lds_addresses(mask: int) -> None:
    inputs = random_rows(3)
    found = run(
        f"{set_exec(mask)}  ds_permute_b32 v3, v1, v2 offset:8\n  s_wait_dscnt 0", inputs, [3]
    )
    moved = np.zeros(64, np.uint32)
    active = active_lanes(mask)
    for lane in range(64):
        if active[lane]:
            moved[(int(inputs[0, lane]) + 8) // 4 % 64] = inputs[1, lane]
    np.testing.assert_array_equal(found[0], np.where(active, moved, inputs[2]))


def test_rows_have_their_bits_of_the_row_mask() -> None:
    inputs = random_rows(2)
    body = (
        "  v_mov_b32_dpp v2, v1 row_mirror row_mask:0x6 bank_mask:0xf\n  v_permlanex16_b32 v1, "
        "v1, 0, 0"
    )
    found = run(body, inputs, [1, 2])
    rows = LANES // 16
    np.testing.assert_array_equal(
        found[1], np.where((rows == 1) | (rows == 2), inputs[0][LANES ^ 15], inputs[1])
    )
    np.testing.assert_array_equal(found[0], inputs[0][(LANES ^ 16) & 0x30])


def test_swizzles_stay_in_32_lanes() -> None:
    inputs = random_rows(2)
    body = "  ds_swizzle_b32 v2, v1 offset:swizzle(BROADCAST,32,7)\n  s_wait_dscnt 0"
    np.testing.assert_array_equal(run(body, inputs, [2])[0], inputs[0][LANES & 32 | 7])


@pytest.mark.covering(1)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "name",
    ["and", "or", "xor", "nand", "nor", "xnor", "and_not0", "and_not1", "or_not0", "or_not1"],
)
def test_exec_is_saved_and_changed_as_a_pair(name: str, mask: int) -> None:
    source, whole = 0x0123_4567_F00F_FFFF, (1 << 64) - 1
    body = f"""{set_exec(mask)}
  s_mov_b32 s8, 0x{source & 0xFFFFFFFF:x}
  s_mov_b32 s9, 0x{source >> 32:x}
  s_{name}_saveexec_b64 s[10:11], s[8:9]
  s_mov_b64 s[12:13], exec
  s_cselect_b32 s14, 1, 0
  s_mov_b64 exec, -1"""
    found = run(body, random_rows(1), [], ["s10", "s11", "s12", "s13", "s14"])
    new = {
        "and": source & mask,
        "or": source | mask,
        "xor": source ^ mask,
        "nand": ~(source & mask),
        "nor": ~(source | mask),
        "xnor": ~(source ^ mask),
        "and_not0": ~source & mask,
        "and_not1": source & ~mask,
        "or_not0": ~source | mask,
        "or_not1": source | ~mask,
    }[name] & whole
    assert pair(found, 0) == mask
    assert pair(found, 2) == new
    assert found[4, 0] == (new != 0)


@pytest.mark.parametrize("mask", MASKS)
def test_branches_look_at_the_whole_mask(mask: int) -> None:
    body = f"""{set_exec(mask)}
  s_mov_b64 vcc, exec
  s_mov_b32 s10, 0
  s_cbranch_execz .Lone
  s_or_b32 s10, s10, 1
.Lone:
  s_cbranch_vccnz .Ltwo
  s_or_b32 s10, s10, 2
.Ltwo:
  s_nop 0"""
    found = run(body, random_rows(1), [], ["s10"])
    assert found[0, 0] == (1 if mask else 2)


@pytest.mark.parametrize("mask", MASKS)
def test_counters_count_the_lanes_of_both_halves_once(mask: int) -> None:
    body = f"""  v_mov_b32 v10, 8
  v_mov_b32 v11, 1000
  ds_store_b32 v10, v11
  s_mov_b32 m0, 0
{set_exec(mask)}
  ds_append v1 offset:8
  s_mov_b64 exec, -1
  ds_load_b32 v11, v10
  s_wait_dscnt 0"""
    inputs = random_rows(1)
    found = run_registers(body, inputs, [1, 11], wave_size=64, lds=64)
    np.testing.assert_array_equal(found[0], np.where(active_lanes(mask), 1000, inputs[0]))
    assert found[1, 0] == 1000 + bin(mask).count("1")


def test_addresses_by_lane_number_go_on_in_the_upper_half() -> None:
    inputs = random_rows(1)
    body = (
        "  s_mov_b32 m0, 4\n  ds_store_addtid_b32 v1 offset:8\n  ds_load_addtid_b32 v2 "
        "offset:8\n  s_wait_dscnt 0"
    )
    body += "\n  v_lshl_add_u32 v10, v0, 2, 12\n  ds_load_b32 v3, v10\n  s_wait_dscnt 0"
    found = run_registers(body, inputs, [2, 3], wave_size=64, lds=512)
    np.testing.assert_array_equal(found, np.stack([inputs[0]] * 2))


@pytest.mark.parametrize("mask", [MASKS[0], 0])
@pytest.mark.parametrize(
    ("name", "kind", "target"), [("b128", np.uint16, "v[100:101]"), ("b64", np.uint8, "v100")]
)
def test_transposing_loads_of_64_lanes_hand_out_the_lanes_measured(
    name: str, kind: type, target: str, mask: int
) -> None:
    """Only lanes 0 to 31 have addresses; lanes 32 to 63 get what the upper half of the registers is
    in wave32."""
    random = np.random.default_rng(3)
    memory = random.integers(0, 256, (64, 8)).astype(kind)
    order = random.permutation(64).astype(np.uint32)
    places = np.where(LANES < 32, order * memory[0].nbytes, 0xFFFF_FFF0).astype(np.uint32)
    inputs = np.concatenate([places[None], memory.view(np.uint32).reshape(-1, 64)])
    body = f"  v_mov_b32 v100, 77\n  v_mov_b32 v101, 77\n{set_exec(mask)}"
    body += f"  global_load_tr_{name} {target}, v1, s[0:1] offset:256\n  s_wait_loadcnt 0"
    found = run(body, inputs, [100, 101])
    wanted = np.full((2, 64), 77, np.uint32)
    if mask:
        read = memory[order]
        moved = np.array(
            [
                [read[source_in_wave64(kind, lane, n), lane % 8] for n in range(4)]
                for lane in range(64)
            ]
        )
        wanted[: memory.itemsize] = moved.view(np.uint32).T
    np.testing.assert_array_equal(found, wanted)


def source_in_wave64(kind: type, lane: int, element: int) -> int:
    """The lane whose address that element of a transposing load comes from."""
    upper, lane = divmod(lane, 32)
    if kind is np.uint16:
        return lane // 8 * 8 + 4 * upper + element
    return lane // 16 * 16 + 8 * upper + lane // 8 % 2 * 4 + element


def test_registers_by_number_in_m0_are_those_of_the_half() -> None:
    inputs = random_rows(3)
    body = "  s_mov_b32 m0, 1\n  v_movrels_b32 v100, v1\n  v_movreld_b32 v101, v3"
    found = run(body, inputs, [100, 102])
    np.testing.assert_array_equal(found[0], inputs[1])
    np.testing.assert_array_equal(found[1], inputs[2])
