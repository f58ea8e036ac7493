"""What accesses have in common in all lanes: what is claimed is what launches do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from building import assemble, compile_kernel, emulate
from c_kernels import CASES, GRID, Case
from observed import Launches, Seen, observed
from required_tools import needs_tools

from amdjit.emulator.counting.lds_banks import bank_cycles
from amdjit.inspection.facts import AccessFacts
from amdjit.inspection.lanes.addresses import Addresses, lane_addresses
from amdjit.inspection.lanes.solution import known_states
from amdjit.inspection.machine_code import read_machine_code
from amdjit.inspection.reading import inspect_kernel, inspect_object

pytestmark = needs_tools


def known_addresses(launches: Launches) -> dict[int, Addresses]:
    code = read_machine_code(*launches.kernels[0])
    assert code is not None
    found = {
        instruction.pc: lane_addresses(state, instruction, code.wave_size)
        for instruction, state in known_states(code)
        if instruction.traits.memory is not None
    }
    return {pc: addresses for pc, addresses in found.items() if addresses is not None}


def active_lanes(seen: Seen) -> list[int]:
    return [lane for lane in range(32) if seen.active >> lane & 1]


def check_addresses(launches: Launches) -> tuple[int, int]:
    """Compare addresses with what is claimed of them; return how many instructions were executed,
    and of how many something is claimed."""
    known = known_addresses(launches)
    facts = {access.address: access for access in inspect_kernel(*launches.kernels[0]).accesses}
    for seen in launches.records:
        addresses, lanes = known.get(seen.pc), active_lanes(seen)
        if addresses is None or not lanes:
            continue
        offsets = addresses.offsets[32 * seen.half : 32 * seen.half + 32]
        first = lanes[0]
        differences = [int(seen.lanes[lane] - seen.lanes[first]) for lane in lanes]
        assert differences == [offsets[lane] - offsets[first] for lane in lanes], hex(seen.pc)
        check_facts(facts[seen.pc], seen, lanes)
    executed = {seen.pc for seen in launches.records}
    return len(executed), len(executed & known.keys())


def check_facts(facts: AccessFacts, seen: Seen, lanes: list[int]) -> None:
    places = [int(seen.lanes[lane]) for lane in lanes]
    if facts.uniform:
        assert len(set(places)) == 1
    if facts.lane_stride is not None:
        steps = zip(lanes[1:], lanes, places[1:], places, strict=False)
        assert all(b - a == facts.lane_stride * (i - j) for i, j, b, a in steps)
        assert facts.uniform == (facts.lane_stride == 0)
    whole = facts.bank_conflicts is not None and len(lanes) == 32
    if whole and facts.width <= 4 and facts.kind != "atomic":
        cycles = bank_cycles(places, facts.width)
        assert cycles.conflicts <= facts.bank_conflicts


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_c_kernels_access_what_is_claimed(case: Case, wave_size: int) -> None:
    flags = ["-mwavefrontsize64"] if wave_size == 64 else []
    with_claims = 0
    for level in ("-O0", "-O2"):
        code = compile_kernel(case.file, level, *flags, "-ffp-contract=off")
        with observed() as launches:
            emulate(code, case.kernel, GRID, case.block, case.arguments(np.random.default_rng(3)))
        with_claims += check_addresses(launches)[1]
    assert with_claims
