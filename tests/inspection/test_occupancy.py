"""Occupancy: as many waves as there are when workgroups are placed on SIMDs one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from amdjit.code_object.resources import Demand
from amdjit.inspection.occupancy import occupancy_of
from amdjit.inspection.reading import inspect_object
from amdjit.options import named_target
from amdjit.target import TARGETS, Target
from tests.emulator.building import assemble
from tests.emulator.required_tools import needs_tools

TARGET = named_target("gfx1201")
random = np.random.default_rng(0)


@dataclass
class Simd:
    """A SIMD of gfx1201: 192 KiB of registers, which waves get in units of 3 KiB."""

    free_bytes: int = 1536 * 32 * 4
    waves: int = 0

    def takes(self, wave_bytes: int) -> bool:
        return self.waves < 16 and wave_bytes <= self.free_bytes


def placed_waves(demand: Demand) -> int:
    """Place workgroups on a workgroup processor, or on one CU of it, until one does not fit; return
    the waves on the fullest SIMD."""
    if demand.vgprs > 256 or demand.lds_bytes > 64 << 10:
        return 0
    units = -(-max(demand.vgprs, 1) * demand.wave_size * 4 // 3072)
    simds = [Simd() for _ in range(4 if demand.wgp_mode else 2)]
    free_lds = (128 if demand.wgp_mode else 64) << 10
    barriers = 8 * len(simds)
    while True:
        free_lds -= -(-demand.lds_bytes // 1024) * 1024
        barriers -= demand.waves > 1
        if free_lds < 0 or barriers < 0:
            break
        before = [replace(simd) for simd in simds]
        for _ in range(demand.waves):
            fitting = [simd for simd in simds if simd.takes(units * 3072)]
            if not fitting:
                return max(simd.waves for simd in before)
            emptiest = min(fitting, key=lambda simd: simd.waves)
            emptiest.waves += 1
            emptiest.free_bytes -= units * 3072
    return max(simd.waves for simd in simds)


def random_demand() -> Demand:
    wave_size = int(random.choice([32, 64]))
    lds = int(random.choice([0, random.integers(0, 1 << 12), random.integers(0, 1 << 16)]))
    return Demand(
        vgprs=int(random.integers(0, 258)),
        lds_bytes=lds,
        waves=int(random.integers(1, 1024 // wave_size + 1)),
        wave_size=wave_size,
        wgp_mode=bool(random.random() < 0.7),
    )


def test_as_many_waves_as_workgroups_can_be_placed() -> None:
    for _ in range(500):
        demand = random_demand()
        found = occupancy_of(demand, TARGET)
        assert found.waves_per_simd == placed_waves(demand), demand
        assert found.waves_per_simd == min(found.limits.values())
        assert found.limits[found.limited_by] == found.waves_per_simd


def test_each_limit_is_what_remains_without_the_others() -> None:
    for _ in range(200):
        demand = random_demand()
        limits = occupancy_of(demand, TARGET).limits
        assert limits["vgprs"] >= placed_waves(replace(demand, lds_bytes=0))
        assert placed_waves(replace(demand, lds_bytes=0)) == min(
            limits["vgprs"], limits["workgroup size"]
        )
        assert placed_waves(replace(demand, vgprs=1)) == min(
            limits["lds"], limits["workgroup size"]
        )
        assert placed_waves(replace(demand, vgprs=1, lds_bytes=0)) == limits["workgroup size"]


def test_each_step_gives_its_waves_and_not_with_one_register_or_byte_more() -> None:
    seen = 0
    for _ in range(300):
        demand = random_demand()
        found = occupancy_of(demand, TARGET)
        before = found.waves_per_simd
        for step in found.steps:
            vgprs = demand.vgprs if step.vgprs is None else step.vgprs
            lds = demand.lds_bytes if step.lds_bytes is None else step.lds_bytes
            less = replace(demand, vgprs=vgprs, lds_bytes=lds)
            assert before < step.waves == placed_waves(less), (demand, step)
            if step.vgprs is not None:
                assert placed_waves(replace(less, vgprs=vgprs + 1)) < step.waves
            if step.lds_bytes is not None:
                assert placed_waves(replace(less, lds_bytes=lds + 1)) < step.waves
            assert step.vgprs is not None or step.lds_bytes is not None
            assert step.text.endswith(f"{found.waves_per_simd} -> {step.waves} waves")
            before = step.waves
            seen += 1
        assert before == max(found.limits["workgroup size"], found.waves_per_simd)
    assert seen > 300


def test_no_step_is_left_out() -> None:
    """Where only registers limit, the steps are all that any lower number of registers gives."""
    for waves in (1, 2, 4, 8, 32):
        demand = Demand(256, 0, waves, 32, wgp_mode=True)
        placed = {placed_waves(replace(demand, vgprs=vgprs)) for vgprs in range(1, 257)}
        found = occupancy_of(demand, TARGET)
        assert {step.waves for step in found.steps} == placed - {found.waves_per_simd}


@pytest.mark.parametrize(
    ("demand", "waves", "limiter", "text"),
    [
        # Registers of 172: 8 waves a SIMD; 168 are seven granules of 24, nine waves.
        (Demand(172, 0, 1, 32, True), 8, "vgprs", "4 VGPRs fewer: 8 -> 9 waves"),
        # Of 36 waves that fit, two workgroups of 16 are whole.
        (Demand(168, 0, 16, 32, True), 8, "vgprs", "48 VGPRs fewer: 8 -> 12 waves"),
        (Demand(32, 64 << 10, 8, 32, True), 4, "lds", "22,528 bytes of LDS fewer: 4 -> 6 waves"),
        (Demand(32, 36 << 10, 8, 32, True), 6, "lds", "4,096 bytes of LDS fewer: 6 -> 8 waves"),
        (Demand(32, 64 << 10, 8, 32, False), 4, "lds", "32,768 bytes of LDS fewer: 4 -> 8 waves"),
        (
            Demand(200, 60 << 10, 4, 32, True),
            2,
            "lds",
            "18,432 bytes of LDS fewer: 2 -> 3 waves",
        ),
        (
            Demand(225, 23 << 10, 4, 32, True),
            5,
            "lds",
            "2,048 bytes of LDS fewer: 5 -> 6 waves",
        ),
        (
            Demand(256, 26 << 10, 4, 32, True),
            4,
            "lds",
            "1,024 bytes of LDS fewer: 4 -> 5 waves",
        ),
    ],
)
def test_known_cases(demand: Demand, waves: int, limiter: str, text: str) -> None:
    found = occupancy_of(demand, TARGET)
    assert (found.waves_per_simd, found.limited_by) == (waves, limiter)
    assert found.steps[0].text == text


@pytest.mark.parametrize("target", TARGETS)
def test_every_processor_has_an_occupancy(target: Target) -> None:
    small = Demand(8, 0, 1, target.wave_size, True)
    assert occupancy_of(small, target).waves_per_simd == target.max_waves
    assert occupancy_of(small, target).steps == ()


@needs_tools
def test_occupancy_of_other_launches() -> None:
    found = inspect_object(assemble("v_mov_b32 v1, 0", lds=3000))
    assert (found.vgprs, found.workgroup_size) == (256, 1024)
    assert found.occupancy == found.occupancy_at()
    for block, lds in [(32, 0), (64, 5000), ((16, 16), 60000), ((8, 4, 2), 1 << 16)]:
        waves = int(np.prod(block)) // 32
        demand = Demand(256, 3000 + lds, waves, 32, wgp_mode=True)
        assert found.occupancy_at(block, lds).waves_per_simd == placed_waves(demand)
    for wrong in (0, 1025, (32, 64)):
        with pytest.raises(ValueError, match="work-items"):
            found.occupancy_at(wrong)
    with pytest.raises(ValueError, match="negative"):
        found.occupancy_at(64, -1)
