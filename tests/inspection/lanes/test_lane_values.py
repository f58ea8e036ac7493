"""What is known of registers: what a launch has in them."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.inspection.accesses import known_states
from amdjit.inspection.lanes.state import workgroup_shape
from amdjit.inspection.lanes.values import Value
from amdjit.inspection.machine_code import read_machine_code
from tests.emulator.building import assemble, emulate
from tests.emulator.required_tools import needs_tools
from tests.inspection.lanes.random_lanes import VECTORS, RandomProgram
from tests.inspection.observed import Seen, observed

pytestmark = needs_tools


def check_register(seen: Seen, value: Value, what: str) -> None:
    """Compare a register's active lanes with a value: numbers that differ by the steps, of one that
    has the low bits."""
    lanes = [lane for lane in range(32) if seen.active >> lane & 1]
    steps = value.steps or (0,) * 32
    bases = {(int(seen.lanes[lane]) - steps[lane]) & 0xFFFFFFFF for lane in lanes}
    assert len(bases) <= 1, what
    for base in bases:
        assert base & (1 << value.known) - 1 == value.low, what


def check_program(text: str, name: str = "") -> tuple[int, int]:
    """Run a program, and compare each register before each instruction with what is known of it;
    return how many comparisons there were, and of how many something was known."""
    with observed(VECTORS) as launches:
        emulate(assemble(text), "kernel", 2, 64, [np.zeros(1, np.int32), np.zeros(1, np.int32)])
    code = read_machine_code(*launches.kernels[0])
    assert code is not None
    known = {
        instruction.pc: {number: held.value for number, held in state.vectors.items()}
        for instruction, state in known_states(code, workgroup_shape(code.kernel))
    }
    compared = 0
    for seen in launches.records:
        value = known[seen.pc].get(seen.register) if seen.register >= 0 else None
        if value is not None:
            check_register(seen, value, f"{name}v{seen.register} at {seen.pc:#x}")
            compared += 1
    return len(launches.records), compared


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(2))
def test_random_programs_have_in_registers_what_is_known(seed: int) -> None:
    _, compared = check_program(RandomProgram(seed).text)
    assert compared


def test_a_mask_of_an_earlier_round_is_no_part_of_what_is_active_in_this_one() -> None:
    # s12 has 16 lanes from the first round, of which the second one writes 8 of v5.
    check_program(
        """
        v_mul_lo_u32 v5, v0, v0
        s_mov_b32 s12, 0
        s_mov_b32 s20, 2
        s_mov_b32 s21, 16
        .Lloop:
        v_cmp_gt_u32 vcc_lo, s21, v0
        s_and_saveexec_b32 s10, vcc_lo
        v_mov_b32 v5, 7
        s_mov_b32 s15, exec_lo
        s_mov_b32 exec_lo, s12
        v_mov_b32 v6, v5
        s_mov_b32 exec_lo, s10
        s_mov_b32 s12, s15
        v_mul_lo_u32 v5, v0, v0
        s_mov_b32 s21, 8
        s_sub_co_u32 s20, s20, 1
        s_cmp_lg_u32 s20, 0
        s_cbranch_scc1 .Lloop
        """
    )


def test_a_result_of_16_bits_keeps_the_other_half_of_its_register() -> None:
    check_program(
        """
        v_lshlrev_b32 v5, 16, v0
        v_mov_b32 v6, 7
        v_add_nc_u16 v5, 2, 3
        v_add_nc_u16 v6, 2, 3
        v_mov_b32 v7, v5
        v_mov_b32 v7, v6
        """
    )


@pytest.mark.exhaustive
def test_many_random_programs_have_in_registers_what_is_known() -> None:
    for seed in range(4, 300):
        check_program(RandomProgram(seed).text, f"seed {seed}: ")
