"""What waits are for: as all paths of random programs show, and as the uses show that come too
early if a wait is taken away."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.code_object import CodeObject
from amdjit.inspection.waits import Waits, find_waits
from amdjit.isa.analysis.control_flow import build_graph
from amdjit.isa.analysis.kernel_code import kernel_text
from tests.emulator.building import assemble, compile_kernel
from tests.emulator.checks.code_listing import listing, without
from tests.emulator.checks.wait_model import Step, early_uses
from tests.emulator.required_tools import needs_tools
from tests.inspection.wait_paths import NotComparable, random_program, source, walk

pytestmark = needs_tools


def waits_of(code: bytes, entry: int | None = None) -> Waits:
    whole = CodeObject.read(code)
    kernel = next(k for k in whole.kernels.values() if entry in (None, k.entry_address))
    return find_waits(build_graph(kernel_text(whole, kernel), kernel.entry_address))


def check_random_program(seed: int) -> int:
    """Compare a random program's waits with those of all its paths; return how many are for
    something."""
    program = random_program(np.random.default_rng(seed))
    try:
        expected = walk(program)
    except NotComparable:
        return 0
    code = assemble(source(program))
    places = sorted(listing(code))[: len(program)]
    number = {pc: place for place, pc in enumerate(places)}
    waits = waits_of(code)
    for place, pc in enumerate(places):
        text = f"seed {seed}: {program[place].text} ({place})"
        ours = {number[load] for load in waits.waits_for.get(pc, ())}
        assert ours == expected.waits_for(place), text
        needs = {number[wait] for wait in waits.needs.get(pc, ())}
        assert needs == expected.needs[place], text
    for load, its_waits in waits.waited_by.items():
        assert set(its_waits) == {wait for wait, loads in waits.waits_for.items() if load in loads}
    return len(waits.waits_for)


def test_random_programs_wait_for_what_all_their_paths_show() -> None:
    assert sum(check_random_program(seed) for seed in range(25)) > 12


@pytest.mark.exhaustive
def test_many_random_programs_wait_for_what_all_their_paths_show() -> None:
    assert sum(check_random_program(seed) for seed in range(2000)) > 2000


def check_without_each_wait(name: str, level: str) -> tuple[int, int]:
    """Take each wait away: what then comes too early needed it. Return how many waits there are,
    and how many of them nothing replaces."""
    code = compile_kernel(name, level)
    steps = listing(code)
    tried = needed = 0
    for kernel in CodeObject.read(code).kernels.values():
        waits = waits_of(code, kernel.entry_address)
        inside = range(kernel.entry_address, kernel.entry_address + kernel.code_size)
        for pc in (pc for pc in inside if pc in steps and steps[pc].name.endswith("cnt")):
            users = {user for user, its_waits in waits.needs.items() if pc in its_waits}
            early = early_uses({**steps, pc: Step("s_nop 0", 4)}, kernel.entry_address)
            assert early <= users, f"{name}: {steps[pc].text} at {pc:#x}"
            # What nothing needs is for nothing that is used, or a later wait is for it as well.
            later = waits_of(without(code, pc), kernel.entry_address).waited_by
            replaced = all(load in later for load in waits.waits_for.get(pc, ()))
            assert early or replaced or not users, f"{name}: {steps[pc].text} at {pc:#x}"
            tried += 1
            needed += bool(early)
    return tried, needed


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["reduction", "atomics", "matrix_shared", "cross_lane"])
def test_what_comes_too_early_without_a_wait_needs_it(name: str) -> None:
    tried, needed = check_without_each_wait(name, "-O2")
    assert tried >= needed > 0


def check(text: str, expected: dict[int, set[int]]) -> None:
    code = assemble(text)
    number = {pc: place for place, pc in enumerate(sorted(listing(code)))}
    waits = waits_of(code)
    ours = {
        number[wait]: {number[load] for load in loads} for wait, loads in waits.waits_for.items()
    }
    assert ours == expected


def test_a_pipelined_loop_waits_for_the_loads_of_the_step_before() -> None:
    check(
        """
        global_load_b32 v1, v0, s[0:1]
        .Lloop:
        global_load_b32 v2, v0, s[0:1]
        s_wait_loadcnt 1
        v_add_nc_u32 v9, v9, v1
        global_load_b32 v1, v0, s[0:1]
        s_wait_loadcnt 1
        v_add_nc_u32 v9, v9, v2
        s_cbranch_scc1 .Lloop
        """,
        {2: {0, 4}, 5: {1}},
    )


def test_an_instruction_that_counts_twice_is_waited_for_twice() -> None:
    check(
        "flat_load_b32 v1, v[2:3]\n s_wait_loadcnt 0\n s_wait_dscnt 0\n v_mov_b32 v4, v1",
        {1: {0}, 2: {0}},
    )


def test_scalar_loads_end_in_any_order() -> None:
    check(
        "s_load_b32 s4, s[0:1], 0x0\n s_load_b32 s5, s[0:1], 0x4\n s_wait_kmcnt 1\n s_wait_kmcnt 0",
        {3: {0, 1}},
    )


def test_idle_waits_end_everything() -> None:
    check(
        "global_load_b32 v1, v0, s[0:1]\n ds_load_b32 v2, v0\n global_store_b32 v0, v3, s[0:1]\n"
        "s_wait_idle",
        {3: {0, 1, 2}},
    )


def test_a_barrier_needs_the_waits_for_all_that_was_written_to_lds_since_the_last_one() -> None:
    code = assemble(
        "ds_store_b32 v0, v1\n s_wait_dscnt 0\n ds_add_rtn_u32 v3, v0, v2\n s_wait_dscnt 0\n"
        "s_barrier_signal -1\n s_barrier_signal -1"
    )
    _, first, _, second, signal, *_ = sorted(listing(code))
    assert waits_of(code).needs == {signal: (first, second)}


def test_waiting_at_a_barrier_ends_the_signal_that_writes_scc() -> None:
    code = assemble(
        "s_barrier_signal_isfirst -1\n s_barrier_wait -1\n s_cselect_b32 s4, s5, s6\n s_nop 0"
    )
    signal, wait, select, *_ = sorted(listing(code))
    waits = waits_of(code)
    assert waits.waits_for == {wait: (signal,)}
    assert waits.needs == {select: (wait,)}
