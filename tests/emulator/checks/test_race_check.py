"""The race check finds each seeded race at its line, and names the other access."""

from __future__ import annotations

import pytest

import amdjit
from amdjit import f32, shared
from amdjit.emulator import EmulatorDevice
from amdjit.emulator.host.jit import HostCompiler
from amdjit.options import Environment
from amdjit.target import find_target
from tests.emulator.checks.seeded_kernels.race_bugs import (
    CASES,
    floats,
    ints,
    lanes_contradict,
    no_barrier_before_reading_lds,
    plain_increment,
)
from tests.emulator.checks.seeded_kernels.seeded import (
    DEVICE,
    Case,
    found_lines,
    reports_of,
    text_of,
)
from tests.emulator.host_processors import HOSTS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_seeded_races_are_found_at_their_lines(case: Case) -> None:
    reports = reports_of(lambda: case.launch(case.kernel), "race")
    assert found_lines(reports) == case.marks(), text_of(reports)
    others = {report.other.line for report in reports if report.other is not None}
    assert others == case.others() or not case.others(), text_of(reports)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", HOSTS)
def test_hosts_with_narrower_vectors_find_the_same(name: str) -> None:
    target = find_target("gfx1201")
    assert target is not None
    host = EmulatorDevice(target, 1, 60.0, Environment(), HostCompiler(name, HOSTS[name]))
    with amdjit.use(host), amdjit.sanitize("race", raises=False) as found:
        no_barrier_before_reading_lds[1, 64](floats(64), floats(64))
        lanes_contradict[1, 32](ints(8))
        plain_increment[3, 32](ints(1))
    cases = {case.kernel: case for case in CASES}
    kernels = (no_barrier_before_reading_lds, lanes_contradict, plain_increment)
    assert found_lines(found.reports) == {
        mark for kernel in kernels for mark in cases[kernel].marks()
    }


def test_waves_of_64_lanes_name_their_threads() -> None:
    with amdjit.use(DEVICE), amdjit.sanitize("race", raises=False) as found:
        of_two_waves[1, 128](floats(128), floats(128))
    assert {(r.kind, r.thread, r.other.thread) for r in found.reports if r.other} == {
        ("lds", (64, 0, 0), (63, 0, 0)),
    }


@amdjit.kernel(wave_size=64)
def of_two_waves(x, out):
    box = shared.array(128, f32)
    i = amdjit.threadIdx.x
    box[i] = x[i]
    out[i] = box[127 - i]


def test_a_report_names_both_threads_and_lines() -> None:
    (report,) = reports_of(lambda: plain_increment[2, 32](ints(1)), "race")[:1]
    assert (report.block, report.thread) == ((1, 0, 0), (0, 0, 0))
    assert report.other is not None
    assert (report.other.block, report.other.thread) == ((0, 0, 0), (0, 0, 0))
    assert (report.array, report.index, report.shape) == ("x", (0,), (1,))
