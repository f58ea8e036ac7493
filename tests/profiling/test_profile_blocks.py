"""Blocks of `amdjit.profile`: what they collect, what they refuse, what a fault leaves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.checking.profiling import refuse_profiles
from amdjit.options import OptionError
from tests.profiling import profiled_kernels as kernels

COUNT = 384


def launch() -> Any:
    x, out = np.ones(COUNT, np.float32), np.zeros(COUNT, np.float32)
    kernels.half_of_the_lanes[6, 64](x, out)
    return out


def test_launches_outside_of_a_block_are_not_counted() -> None:
    launch()
    with amdjit.profile() as p:
        pass
    launch()
    assert p.launches == []
    assert str(p) == "no launch was profiled"


def test_blocks_nest_and_count_the_same_launches() -> None:
    with amdjit.profile() as outer:
        launch()
        with amdjit.profile(workgroups=0) as inner:
            launch()
        launch()
    assert (len(outer.launches), len(inner.launches)) == (3, 1)
    assert inner.launches[0].totals == outer.launches[1].totals == outer.launches[2].totals


def test_a_block_collects_again_when_it_is_entered_again() -> None:
    block = amdjit.profile()
    for _ in range(2):
        with block:
            launch()
    assert len(block.launches) == 2


def test_results_are_those_of_a_plain_launch() -> None:
    plain = launch()
    with amdjit.profile():
        assert np.array_equal(launch(), plain)


def test_nothing_is_counted_of_a_launch_that_a_fault_stops() -> None:
    with amdjit.profile() as p:
        with pytest.raises(amdjit.KernelFault, match="is not allowed"):
            kernels.beyond[6, 64](np.ones(COUNT, np.float32), np.zeros(COUNT, np.float32))
        launch()
    assert [one.kernel for one in p.launches] == ["half_of_the_lanes"]
    (sentence,) = p.stopped
    assert sentence.startswith("beyond: nothing is counted, a fault stopped the launch")
    assert sentence in str(p)
    assert sentence.splitlines()[0] in p.to_json().replace("\\n", "\n")


def test_a_launch_cannot_be_checked_and_counted_at_once() -> None:
    message = r"half_of_the_lanes: a launch cannot be checked \(race\) and counted .*twice"
    with amdjit.profile() as p:
        with amdjit.sanitize("race"), pytest.raises(amdjit.LaunchError, match=message):
            launch()
        launch()
    assert len(p.launches) == 1


def test_other_devices_refuse_and_say_what_to_do() -> None:
    refuse_profiles("k", "hip:0", "gfx1201")
    message = re.escape('launch inside `with amdjit.use("emulator:gfx1201"):`')
    with amdjit.profile(), pytest.raises(amdjit.LaunchError, match=message):
        refuse_profiles("k", "hip:0", "gfx1201")


@pytest.mark.parametrize(
    "options", [{"workgroups": -1}, {"workgroups": 1.5}, {"instructions": -1}, {"workgroups": True}]
)
def test_options_that_are_no_numbers_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="profile: "):
        amdjit.profile(**options)


def test_a_page_of_no_launches_is_refused(tmp_path: Any) -> None:
    with amdjit.profile() as p:
        pass
    with pytest.raises(ValueError, match="no launches"):
        p.to_html(tmp_path / "page.html")


def test_a_page_names_the_launches(tmp_path: Any) -> None:
    with amdjit.profile() as p:
        launch()
    p.to_html(tmp_path / "page.html")
    assert "launch 1: half_of_the_lanes" in (tmp_path / "page.html").read_text()


def test_the_inspection_is_of_the_launched_code() -> None:
    with amdjit.profile() as p:
        launch()
    (only,) = p.launches
    executed = {one.address for one in only.instructions if one.executions}
    assert executed <= {one.address for one in only.inspection.instructions}
    texts = {one.address: one.text for one in only.inspection.instructions}
    assert all(texts[one.address] == one.text for one in only.instructions)
