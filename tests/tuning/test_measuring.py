"""Times: measured on a GPU (which the stand-in offers), estimated on the emulator, and what is said
of either."""

from __future__ import annotations

import json
import math
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amdjit
from amdjit.options import OptionError
from amdjit.tuning import bench
from amdjit.tuning.bench import Contestant, measure
from amdjit.tuning.timing import Timing, median_interval, seconds_text, timing_of
from tests.tuning import tuned_kernels

HERE = Path(__file__).parent
STANDIN = HERE.parent / "runtime" / "standin_hip" / "run_with_standin.py"
samples = st.lists(st.floats(1e-9, 1, allow_nan=False), min_size=1, max_size=60)


@pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is of Linux, not Windows")
def test_a_gpu_is_measured_and_candidates_are_checked_on_it(tmp_path: Path) -> None:
    pytest.importorskip("hip")
    command = [sys.executable, STANDIN, HERE / "search_on_a_gpu.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["checked"]["per=4"][0] == "wrong"
    assert found["checked"]["per=1"][:2] == ["fine", "events"]
    assert found["untouched"]
    assert sorted(each[0] for each in found["top"].values()) == ["dropped", "fine", "fine"]
    assert sorted(each[2] for each in found["top"].values()) == [0, 5, 5]
    assert found["launched"] == [7, 8, 9]
    assert {tuple(each) for each in found["zeroed"].values()} == {("fine", "events", 5)}
    assert found["after"] == [7, 8, 9]
    assert found["bench"] == ["events", 7, True]


@given(samples)
def test_the_interval_holds_the_median_and_is_of_samples(given_samples: list[float]) -> None:
    median, low, high = median_interval(given_samples)
    assert low <= median <= high
    assert median == statistics.median(given_samples)
    assert low in given_samples
    assert high in given_samples


@pytest.mark.parametrize("count", [6, 10, 30])
def test_the_interval_covers_the_true_median_as_often_as_it_says(count: int) -> None:
    draw = random.Random(3)
    covered = 0
    for _ in range(2000):
        _, low, high = median_interval([draw.expovariate(1) for _ in range(count)])
        covered += low <= math.log(2) <= high
    assert covered / 2000 > 0.94


class Clock:
    """Stands for a GPU: launches take the times that are drawn for them."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []
        self.fills = 0

    def event(self, device: Any) -> Any:
        clock = self

        class Mark:
            time = 0.0

            def record(self) -> None:
                self.time = clock.now

            def synchronize(self) -> None:
                pass

            def elapsed_milliseconds(self, end: Any) -> float:
                return float((end.time - self.time) * 1e3)

        return Mark()


def test_candidates_take_turns_and_clearly_slower_ones_are_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, draw = Clock(), random.Random(1)
    monkeypatch.setattr(bench, "Event", clock.event)
    usual = {"a": 1e-3, "b": 1.001e-3, "slow": 3e-3}

    def launch_of(name: str) -> Any:
        def launch() -> None:
            clock.order.append(name)
            # The clock of the GPU drifts: what is measured later is slower.
            clock.now += usual[name] * draw.uniform(0.95, 1.05) * (1 + len(clock.order) / 400)

        return launch

    contestants = [Contestant(name, launch_of(name)) for name in usual]
    device: Any = None
    measure(contestants, device, warm_up=2, samples=30)
    assert [each.is_out for each in contestants] == [False, False, True]
    assert [len(each.samples) for each in contestants] == [30, 30, 6]
    turns = clock.order[6:]
    for start in range(0, 18, 3):
        assert set(turns[start : start + 3]) == set(usual)
    ends = [median_interval(each.samples)[0] for each in contestants[:2]]
    assert ends[0] == pytest.approx(ends[1], rel=0.02)


def test_short_launches_are_repeated_unless_something_comes_before_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, prepared = Clock(), []
    monkeypatch.setattr(bench, "Event", clock.event)

    def launch() -> None:
        clock.now += 2e-6

    several = Contestant("several", launch)
    single = Contestant("single", launch, lambda: prepared.append(clock.now))
    device: Any = None
    measure([several, single], device, warm_up=1, samples=4)
    assert several.samples == pytest.approx([2e-6] * 4)
    assert single.samples == pytest.approx([2e-6] * 4)
    assert len(prepared) == 1 + 4
    # 50 launches of 2 microseconds are a sample of 100.
    assert round(clock.now / 2e-6) == 1 + 1 + 4 * 50 + 4


def test_an_estimate_says_that_it_is_one_and_a_measurement_what_it_is_of() -> None:
    estimated = Timing(2e-6, 2e-6, 2e-6, "model", "emulator:gfx1201", cycles=5940, flops=4e6)
    assert str(estimated) == (
        "2 µs (5940 cycles), 2 TFLOPS, estimated by the cycle model on emulator:gfx1201; nothing "
        "was measured"
    )
    measured = timing_of([1e-3, 3e-3, 2e-3], "hip:0")
    assert str(measured) == "2 ms [1 ms, 3 ms], median of 3 on hip:0"
    assert measured.tflops is measured.gigabytes_per_second is None
    assert [seconds_text(each) for each in (2, 0.25, 1.5e-5, 3e-9)] == [
        "2 s",
        "250 ms",
        "15 µs",
        "3 ns",
    ]


def test_the_bench_on_the_emulator_is_the_profiles_estimate_and_makes_one_launch() -> None:
    with amdjit.use("emulator:gfx1201"):
        x, total = amdjit.to_device(np.ones(256, np.float32)), amdjit.zeros(256)
        timing = amdjit.bench(tuned_kernels.accumulate[4, 64], x, total, 256, 1, bytes=2048)
        assert (total.copy_to_host() == 1).all()
        with amdjit.profile() as profile:
            tuned_kernels.accumulate[4, 64](x, total, 256, 1)
        cycles = profile.launches[0].cycles
    assert cycles is not None
    assert (timing.by, timing.samples) == ("model", ())
    assert (timing.cycles, timing.seconds) == (cycles.kernel, cycles.seconds)
    assert timing.gigabytes_per_second == pytest.approx(2048 / cycles.seconds / 1e9)


def test_what_is_no_launch_is_refused() -> None:
    with pytest.raises(OptionError, match=r"kernel\[grid, block\]"):
        amdjit.bench(3)
    with pytest.raises(OptionError, match="samples=0"):
        amdjit.bench(tuned_kernels.double[1, 64], samples=0)
    with amdjit.use("emulator:gfx1201"), pytest.raises(amdjit.TuningError, match="no launch"):
        amdjit.bench(lambda: None)
