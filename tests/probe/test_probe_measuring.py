"""How long experiments are made, and what is said of their samples."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import amdjit
from amdjit.diagnostics.errors import LaunchError
from amdjit.probe.case import Measurement
from amdjit.probe.timing import experiment
from amdjit.probe.timing.experiment import (
    Effort,
    Experiment,
    Laboratory,
    Launch,
    per_step,
    spread_of,
)
from amdjit.runtime.device import Device
from tests.probe.probe_on_standin import needs_standin

HERE = Path(__file__).parent
RUN = HERE.parent / "runtime" / "standin_hip" / "run_with_standin.py"


class PretendedGpu:
    """What a laboratory asks of a device."""

    name = "hip:0"


def steps(nanoseconds: float) -> Experiment:
    """Return an experiment of which a repetition of the longer launch takes two steps of so many
    nanoseconds, that of the shorter one."""

    def launches(repetitions: int) -> tuple[Launch, ...]:
        return tuple(lambda n=n: n * nanoseconds for n in (repetitions, 2 * repetitions))

    return Experiment("steps", "cycles", "", launches, per_step(1), repetitions=16)


def laboratory(monkeypatch: pytest.MonkeyPatch, seconds: float, clock: float) -> Laboratory:
    """Return one whose launches say how many nanoseconds they take, 1 microsecond more each."""

    def seconds_of(launch: Launch, device: Device) -> float:
        return float(str(launch())) * 1e-9 + 1e-6

    monkeypatch.setattr(experiment, "seconds_of", seconds_of)
    gpu: object = PretendedGpu()
    return Laboratory(gpu, Effort(seconds, 5), steps(1e9 / clock))  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [0, 1e-3])
def test_figures_are_in_cycles_of_the_clock_whatever_a_launch_costs(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    room = laboratory(monkeypatch, seconds, 2e9)
    assert room.samples(steps(3.5)) == pytest.approx((7.0,) * 5)
    assert room.clocks == pytest.approx([2e9] * 5)


def test_launches_grow_until_they_are_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    room = laboratory(monkeypatch, 1e-3, 2e9)
    counts: list[int] = []
    whole = steps(10)

    def launches(repetitions: int) -> Sequence[Launch]:
        counts.append(repetitions)
        return whole.launches(repetitions)

    room.samples(Experiment("steps", "cycles", "", launches, per_step(1)))  # type: ignore[arg-type]
    assert counts == sorted(counts)
    assert 1e-3 <= 2 * counts[-1] * 10e-9 + 1e-6 < 4e-3


def test_a_device_that_is_faster_with_more_work_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    room = laboratory(monkeypatch, 0, -1e9)
    with pytest.raises(LaunchError, match="the longer one takes less time"):
        room.cycle()


def test_an_emulator_s_times_say_nothing() -> None:
    with (
        amdjit.use("emulator:gfx1201") as device,
        pytest.raises(LaunchError, match="probe a GPU"),
    ):
        Laboratory(device, Effort(), steps(1))


@pytest.mark.parametrize(
    ("samples", "spread"),
    [
        ((10.0,), 0.01),
        ((10.0, 10.5), 0.5),
        # One launch that was interrupted does not count.
        ((10.0,) * 8 + (500.0,), 0.01),
    ],
)
def test_the_spread_is_that_of_most_samples(samples: tuple[float, ...], spread: float) -> None:
    assert spread_of(Measurement("x", 10.0, "ns", samples)) == pytest.approx(spread)


@pytest.mark.exhaustive
@needs_standin
def test_launches_and_copies_are_measured(tmp_path: Path) -> None:
    script = tmp_path / "launches.py"
    script.write_text(
        "import json, amdjit\n"
        "from amdjit.probe.timing.experiment import Effort\n"
        "from amdjit.probe.timing.launches import launch_measurements\n"
        "found = launch_measurements(amdjit.current_device(), Effort(0, 2))\n"
        "print(json.dumps({each.name: each.value for each in found}))\n"
    )
    command = [sys.executable, str(RUN), str(script)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert len(found) == 14
    assert min(found.values()) > 0
    assert {name for name in found if "graph" in name} == {
        "empty kernel, in a graph, on the device",
        "empty kernel, in a graph, until it is done",
    }
