"""Runs of the probe whose processes die, hang, stop answering and are interrupted, with children
that follow a script."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amdjit.probe import running, session
from amdjit.probe.case import Batch, Case, Group
from amdjit.probe.outcome import BatchStatus, CaseStatus, Facts, Record
from amdjit.probe.processes import Processes
from amdjit.probe.running import Partial
from amdjit.target import Target

CHILD = str(Path(__file__).with_name("scripted_child.py"))
FACTS = Facts("hip:0", "gfx1201", "a GPU of a script", 32, system="Linux")
PLAIN = {"one": [["a", "1"], ["b", "2"]], "two": [["c", "3"]], "three": [["d", "4"]]}


class Run:
    """Runs with scripts, in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.said = folder, list[str]()
        self.partial = folder / "file.part"
        self.asleep = folder / "asleep"
        monkeypatch.setattr(running, "batches", self._batches)
        monkeypatch.setattr(running, "_SECONDS_OF_ANSWER", 1.0)

    def _batches(self, target: Target) -> tuple[Batch, ...]:
        return tuple(Batch(name, Group.EXAMPLES, 1.0, cases=_no_cases) for name in PLAIN)

    def __call__(
        self, chip: dict[str, Any], emulator: dict[str, Any] = PLAIN, **request: Any
    ) -> tuple[Record, Partial]:
        sides = []
        for side, batches in (("chip", chip), ("emulator", emulator)):
            script = {
                "batches": batches,
                "asleep": str(self.asleep),
                "log": str(self.folder / f"{side}.log"),
            }
            path = self.folder / f"{side}.json"
            path.write_text(json.dumps(script))
            sides.append((sys.executable, CHILD, str(path)))
        return running.run(
            running.Request("hip:0", jobs=2, **request),
            FACTS,
            self.partial,
            Processes(chip=sides[0], emulator=sides[1]),
            self.said.append,
        )

    def tasks(self, side: str) -> list[str]:
        """Return what a side was asked for, and forget it."""
        log = self.folder / f"{side}.log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines


def _no_cases(target: Target) -> Iterator[Case]:
    raise AssertionError("cases are made in children only")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(tmp_path, monkeypatch)


def statuses(record: Record) -> dict[str, CaseStatus]:
    return {case.name: case.status for case in record.cases()}


def test_a_run_tells_what_agrees_differs_and_failed(run: Run) -> None:
    chip = PLAIN | {"two": [["c", "33"]], "three": [["d", "fail"]]}
    emulator = PLAIN | {"one": [["a", "1"], ["b", "fail"]]}
    record, partial = run(chip, emulator)
    assert statuses(record) == {
        "a": CaseStatus.AGREES,
        "b": CaseStatus.EMULATOR_FAILED,
        "c": CaseStatus.DIFFERS,
        "d": CaseStatus.CHIP_FAILED,
    }
    assert record.is_complete
    assert [line.split(":")[0] for line in run.said] == ["[1/3] one", "[2/3] two", "[3/3] three"]
    assert "left" in run.said[0]
    assert partial.path.exists()


def test_a_crash_loses_the_case_in_which_it_happens(run: Run) -> None:
    record, _ = run(PLAIN | {"one": [["a", "die"], ["b", "2"]]})
    assert statuses(record) == {
        "a": CaseStatus.CRASHED,
        "b": CaseStatus.AGREES,
        "c": CaseStatus.AGREES,
        "d": CaseStatus.AGREES,
    }
    crashed = record.batches[0]
    assert crashed.status is BatchStatus.CRASHED
    assert "in a: ended by SIGABRT" in crashed.detail
    assert "driver.so" in crashed.detail
    assert str(Path.home()) not in crashed.detail
    assert "secret" not in crashed.detail


def test_a_hang_is_ended_and_the_run_goes_on(run: Run) -> None:
    record, _ = run(PLAIN | {"one": [["a", "sleep"], ["b", "2"]]})
    assert statuses(record)["a"] is CaseStatus.HUNG
    assert statuses(record)["b"] is CaseStatus.AGREES
    assert record.batches[0].status is BatchStatus.HUNG
    assert record.is_complete
    assert any(task.startswith("answer") for task in run.tasks("chip"))


def test_a_device_that_does_not_answer_stops_the_run_which_resumes(run: Run) -> None:
    chip = PLAIN | {"two": [["c", "sleep for good"]]}
    record, _ = run(chip)
    assert not record.is_complete
    assert "hip:0 seems hung: it does not answer after two (in c: killed after" in record.stopped
    assert [batch.name for batch in record.batches] == ["one", "two"]
    run.tasks("chip")
    run.asleep.unlink()  # the GPU was reset
    record, _ = run(chip)
    assert record.is_complete
    assert [batch.name for batch in record.batches] == ["one", "two", "three"]
    assert statuses(record)["c"] is CaseStatus.HUNG
    assert run.tasks("chip") == ["run hip:0 three 0"]


def test_too_many_deaths_end_a_batch(run: Run) -> None:
    names = "pqrstuvw"
    record, _ = run(PLAIN | {"one": [[name, "die"] for name in names]})
    assert [batch.name for batch in record.batches] == ["one", "two", "three"]
    crashed = [name for name, status in statuses(record).items() if status is CaseStatus.CRASHED]
    assert crashed == ["p", "q", "r", "s"]


def test_a_death_of_the_emulator_costs_its_case(run: Run) -> None:
    record, _ = run(PLAIN, PLAIN | {"one": [["a", "die"], ["b", "2"]]})
    assert statuses(record)["a"] is CaseStatus.EMULATOR_LOST
    assert statuses(record)["b"] is CaseStatus.AGREES
    assert record.batches[0].status is BatchStatus.DONE


def _interrupt_after(run: Run, batch: str) -> None:
    """Interrupt this process once the device is asked for a batch: the others are done then."""
    log = run.folder / "chip.log"
    while not (log.exists() and any(batch in line for line in log.read_text().splitlines())):
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_keeps_what_is_done(run: Run) -> None:
    waiting = threading.Thread(target=_interrupt_after, args=(run, "three"))
    waiting.start()
    began = time.monotonic()
    record, _ = run(PLAIN | {"three": [["d", "sleep"]]}, patience=100.0)
    assert time.monotonic() - began < 20
    assert (record.is_complete, record.stopped) == (False, "interrupted")
    assert [batch.name for batch in record.batches] == ["one", "two"]
    run.tasks("chip")
    record, _ = run(PLAIN)
    assert run.tasks("chip") == ["run hip:0 three 0"]
    assert record.is_complete


def test_nothing_is_begun_when_the_time_is_over(run: Run) -> None:
    record, _ = run(PLAIN, minutes=0.0)
    assert (record.is_complete, record.stopped, record.batches) == (False, "out of time", ())


def test_a_partial_file_of_another_run_is_not_continued(run: Run) -> None:
    run(PLAIN)
    run.said.clear()
    run(PLAIN, is_quick=False, only=("one",))
    assert "the selection was whole and is whole, only one" in run.said[0]
    run.partial.write_bytes(b"nothing of the kind")
    run.said.clear()
    record, _ = run(PLAIN)
    assert "it is damaged" in run.said[0]
    assert len(record.batches) == 3


def test_a_partial_file_that_is_cut_off_keeps_its_whole_batches(run: Run) -> None:
    run(PLAIN)
    run.partial.write_bytes(run.partial.read_bytes()[:-5])
    run.tasks("chip")
    record, _ = run(PLAIN)
    assert run.tasks("chip") == ["run hip:0 three 0"]
    assert [batch.name for batch in record.batches] == ["one", "two", "three"]


def test_an_unknown_name_is_refused_with_the_names(run: Run) -> None:
    with pytest.raises(running.ProbeError, match="only seven; there are one, two, three"):
        run(PLAIN, only=("seven",))


@pytest.mark.parametrize("target", ["gfx1201", "gfx1100"])
def test_batches_are_listed_without_a_gpu(
    target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_gpu(request: running.Request, processes: Processes) -> Facts:
        raise running.ProbeError("there is no device 'hip'")

    monkeypatch.setattr(session, "facts_of", no_gpu)
    monkeypatch.setenv("AMDJIT_TARGET", target)
    said: list[str] = []
    assert session.list_batches(running.Request(), say=said.append) == 0
    assert said == [f"there is no GPU here; these are the batches for {target}"]
    assert "s on a GPU" in capsys.readouterr().out
    with pytest.raises(running.ProbeError):
        session.list_batches(running.Request("hip:0"))
