"""A run of the probe. Each batch runs in processes of its own, on the device and on the emulator of
the same processor, which uses the other cores of the CPU at the same time."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgpack

import amdjit
from amdjit.diagnostics import AmdjitError
from amdjit.disk_cache import source_version
from amdjit.probe.case import Batch, Group
from amdjit.probe.corpus import batches, corpus_version
from amdjit.probe.joining import differing, joined, measurements_in, outcomes_in
from amdjit.probe.outcome import (
    BatchOutcome,
    BatchStatus,
    CaseOutcome,
    CaseStatus,
    Facts,
    Record,
    plain,
    read_batch,
    read_facts,
)
from amdjit.probe.processes import Ended, Processes
from amdjit.probe.record import read_values
from amdjit.target import Target, read_target

__all__ = ["Partial", "ProbeError", "Request", "chosen", "facts_of", "run"]

_SECONDS_OF_ANSWER = 30.0
_SECONDS_OF_FACTS = 120.0
# A CPU may need minutes for a batch that takes a GPU seconds.
_EMULATOR_SECONDS = 900.0


class ProbeError(AmdjitError):
    """The run of the probe cannot begin."""


@dataclass(frozen=True)
class Request:
    """What to run."""

    device: str = ""
    """The name of the device, empty for the first GPU."""
    is_quick: bool = False
    only: tuple[str, ...] = ()
    """Parts of the names of the batches to run; empty for all batches."""
    minutes: float | None = None
    """Minutes after which no batch is begun; None for no limit."""
    patience: float = 1.0
    """A factor for all time limits."""
    jobs: int = 0
    """How many processes emulate at the same time; 0 for all cores but one."""

    @property
    def selection(self) -> str:
        """The selected batches, in words."""
        kind = "quick" if self.is_quick else "whole"
        return f"{kind}, only {', '.join(self.only)}" if self.only else kind


def facts_of(request: Request, processes: Processes) -> Facts:
    """Ask a child what the device is; ProbeError if there is none or it does not answer."""
    with tempfile.TemporaryDirectory(prefix="amdjit-probe-") as folder:
        file = Path(folder, "facts")
        ended = processes.on_chip(
            _SECONDS_OF_FACTS * request.patience, "facts", str(file), request.device
        )
        for value in read_values(file):
            if value["kind"] == "facts":
                return read_facts(value["facts"])
            raise ProbeError(
                f"{value['why']}\n`amdjit doctor` says what is missing. Without a GPU, try the "
                "probe on an emulator: amdjit probe --device emulator:gfx1201 --quick"
            )
    raise ProbeError(
        f"the device cannot be queried: the process that queries it {ended.reason}. "
        f"`amdjit doctor` says more.\n{ended.words}"
    )


def chosen(request: Request, target: Target) -> tuple[Batch, ...]:
    """Return the batches that a request asks for; ProbeError if there are none."""
    everything = batches(target)
    found = tuple(
        batch
        for batch in everything
        if (batch.is_quick or not request.is_quick)
        and (not request.only or any(part in batch.name for part in request.only))
    )
    if not found:
        names = ", ".join(batch.name for batch in everything)
        raise ProbeError(f"no batch is selected by {request.selection}; there are {names}")
    return found


def run(
    request: Request,
    facts: Facts,
    partial_path: Path,
    processes: Processes,
    say: Callable[[str], None],
) -> tuple[Record, Partial]:
    """Run the selected batches, or what is left of them. Return the record, and the partial file,
    which is to be removed once a complete record is written. say: prints lines of progress."""
    target = read_target(facts.target)
    selected = chosen(request, target)
    partial = Partial(partial_path, _identity(request, facts), facts)
    if partial.why_new:
        say(partial.why_new)
    there = {batch.name for batch in partial.batches}
    left = [batch for batch in selected if batch.name not in there]
    if there:
        say(f"continuing {partial.path}: {len(there)} of {len(selected)} batches are done")
    with tempfile.TemporaryDirectory(prefix="amdjit-probe-", ignore_cleanup_errors=True) as folder:
        session = _Session(
            request,
            facts,
            target=target,
            processes=processes,
            partial=partial,
            folder=Path(folder),
            progress=Progress(left, len(there), say),
        )
        stopped = session.run(left)
    record = Record(
        amdjit.__version__,
        corpus_version(),
        facts,
        request.selection,
        tuple(partial.batches),
        is_complete=not stopped,
        stopped=stopped,
    )
    return record, partial


def _identity(request: Request, facts: Facts) -> dict[str, str]:
    return {
        "amdjit": amdjit.__version__,
        "the source": source_version(Path(amdjit.__file__).parent)[:12],
        "the corpus": corpus_version(),
        "the device": f"{facts.device}, {facts.target}, {facts.description}",
        "the selection": request.selection,
    }


@dataclass
class _Session:
    """The rest of a run. The calling thread runs batches on the chip, a pool of threads runs them
    on emulators, and one more thread combines the results of both, in order."""

    request: Request
    facts: Facts
    target: Target
    processes: Processes
    partial: Partial
    folder: Path
    progress: Progress
    _joins: list[Future[None]] = field(default_factory=list)

    def run(self, left: Sequence[Batch]) -> str:
        """Run the batches and return why not all of them ran; empty if they did."""
        jobs = self.request.jobs or max(1, (os.cpu_count() or 2) - 1)
        with ThreadPoolExecutor(jobs) as pool, ThreadPoolExecutor(1) as joiner:
            try:
                return self._all(left, pool, joiner)
            except BaseException as error:
                self.processes.close()
                for executor in (pool, joiner):
                    executor.shutdown(wait=False, cancel_futures=True)
                if isinstance(error, KeyboardInterrupt):
                    return "interrupted"
                raise

    def _all(
        self, left: Sequence[Batch], pool: ThreadPoolExecutor, joiner: ThreadPoolExecutor
    ) -> str:
        emulated = {
            batch.name: pool.submit(self._on_emulator, batch)
            for batch in left
            if batch.cases is not None
        }
        stopped = ""
        for batch in left:
            if batch.group is Group.TIMING:
                self._wait()  # the CPU must be idle while launches are timed
            if not stopped and self._is_late(batch):
                stopped = "out of time"
            if stopped:
                future = emulated.get(batch.name)
                if future is not None:
                    future.cancel()
                continue
            attempt = self._on_chip(batch)
            self._joins.append(joiner.submit(self._join, batch, attempt, emulated.get(batch.name)))
            if not attempt.is_answering:
                stopped = self._hung(batch, attempt)
        self._wait()
        if stopped:
            self.processes.close()
        return stopped

    def _wait(self) -> None:
        for join in self._joins:
            join.result()

    def _is_late(self, batch: Batch) -> bool:
        minutes = self.request.minutes
        if minutes is None:
            return False
        limit = 60 * minutes * self.request.patience
        return self.progress.elapsed + batch.expected > limit

    def _hung(self, batch: Batch, attempt: Attempt) -> str:
        return (
            f"{self.facts.device} seems hung: it does not answer after {batch.name} "
            f"({attempt.detail.splitlines()[0]})"
        )

    def _file(self, batch: Batch, side: str) -> Path:
        return self.folder / f"{batch.name.replace('/', '-').replace(' ', '-')}.{side}"

    def _on_chip(self, batch: Batch) -> Attempt:
        file = self._file(batch, "chip")
        seconds = batch.seconds * self.request.patience
        return run_batch(
            lambda first: self.processes.on_chip(
                seconds, "run", str(file), self.facts.device, batch.name, str(first)
            ),
            file,
            self._answers,
        )

    def _answers(self, ended: Ended) -> bool:
        if ended.is_stuck:
            return False
        file = self.folder / "answer"
        seconds = _SECONDS_OF_ANSWER * self.request.patience
        return self.processes.on_chip(seconds, "answer", str(file), self.facts.device).code == 0

    def _on_emulator(self, batch: Batch) -> Attempt:
        file = self._file(batch, "emulator")
        seconds = _EMULATOR_SECONDS * self.request.patience
        device = f"emulator:{self.target.name}"
        return run_batch(
            lambda first: self.processes.on_emulator(
                seconds, "run", str(file), device, batch.name, str(first)
            ),
            file,
            lambda ended: True,
        )

    def _join(self, batch: Batch, chip: Attempt, future: Future[Attempt] | None) -> None:
        outcome = BatchOutcome(
            batch.name, batch.group.value, chip.status, chip.seconds, chip.detail
        )
        if future is None:
            outcome = replace(outcome, measurements=tuple(measurements_in(chip.file)))
        else:
            emulator = future.result()
            compared = self._compared(batch, chip.file, emulator.file)
            outcome = replace(outcome, cases=joined(chip.file, emulator.file, compared))
            emulator.file.unlink(missing_ok=True)
        chip.file.unlink(missing_ok=True)
        if self.processes.is_closed:
            return  # the emulator or the comparison may have been killed
        self.partial.add(outcome)
        self.progress.ended(batch, outcome)

    def _compared(self, batch: Batch, chip: Path, emulator: Path) -> dict[str, CaseOutcome]:
        if not differing(chip, emulator):
            return {}
        file = self._file(batch, "compared")
        seconds = _EMULATOR_SECONDS * self.request.patience
        self.processes.on_emulator(
            seconds, "compare", str(file), self.target.id, batch.name, str(chip), str(emulator)
        )
        return outcomes_in(file)


# The progress of a run: a line for each batch, with the remaining time.

_FAILED = (CaseStatus.CHIP_FAILED, CaseStatus.CRASHED, CaseStatus.HUNG)


@dataclass
class Progress:
    """Counts and prints the batches that have ended."""

    left: Sequence[Batch]
    """The batches that this run has to run."""
    before: int
    """How many batches earlier runs did."""
    say: Callable[[str], None]
    _began: float = field(default_factory=time.monotonic)
    _ended: int = 0
    _expected: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    def ended(self, batch: Batch, outcome: BatchOutcome) -> None:
        """Print the outcome of a batch."""
        self._ended += 1
        self._expected += batch.expected
        total = self.before + len(self.left)
        number = f"[{self.before + self._ended:{len(str(total))}}/{total}]"
        self.say(f"{number} {batch.name}: {_what(outcome)}{self._remaining()}")

    def _remaining(self) -> str:
        """Return the remaining time, if the other batches are as fast as those that have ended."""
        rest = sum(batch.expected for batch in self.left) - self._expected
        if rest <= 0 or self._expected <= 0:
            return ""
        seconds = round(self.elapsed * rest / self._expected)
        return f"; {seconds // 60}:{seconds % 60:02} left"


def _what(outcome: BatchOutcome) -> str:
    parts = []
    if outcome.status is not BatchStatus.DONE:
        first = outcome.detail.splitlines()[0] if outcome.detail else ""
        parts.append(f"{outcome.status.value.upper()} {first}".strip())
    if outcome.measurements:
        parts.append(f"{len(outcome.measurements)} measurements")
    if outcome.cases:
        parts.append(f"{len(outcome.cases)} cases")
    for words, statuses in (
        ("differ", (CaseStatus.DIFFERS,)),
        ("failed", _FAILED),
        ("not emulated", (CaseStatus.EMULATOR_FAILED, CaseStatus.EMULATOR_LOST)),
    ):
        count = sum(case.status in statuses for case in outcome.cases)
        if count:
            parts.append(f"{count} {words}")
    return ", ".join(parts) or "nothing"


# The file of an incomplete run: it grows with each batch, and the next run continues it.


class Partial:
    """Batches that have ended, in a file.

    identity: the versions and the device, which must be the same for a run to continue. why_new:
    why it does not, if there was a file of another run.
    """

    def __init__(self, path: Path, identity: dict[str, str], facts: Facts) -> None:
        self.path = path
        self.why_new = ""
        self.batches: list[BatchOutcome] = []
        if not self._continues(identity):
            self.path.write_bytes(msgpack.packb([identity, plain(facts)]))

    def add(self, batch: BatchOutcome) -> None:
        """Add a batch to the file."""
        self.batches.append(batch)
        with self.path.open("ab") as file:
            file.write(msgpack.packb(plain(batch)))

    def remove(self) -> None:
        """Remove the file, after the run is complete."""
        self.path.unlink(missing_ok=True)

    def _continues(self, identity: dict[str, str]) -> bool:
        """Read the file; return False if a new one must be begun."""
        if not self.path.exists():
            return False
        try:
            (before, facts), *rows = _values(self.path)
            read_facts(facts)
            found = [read_batch(row) for row in rows]
            changes = [
                f"{name} was {before[name]} and is {value}"
                for name, value in identity.items()
                if before[name] != value
            ]
        except (ValueError, TypeError, KeyError, msgpack.UnpackException):
            changes = ["it is damaged"]
        if changes:
            self.why_new = f"{self.path} is not continued: {'; '.join(changes)}"
            return False
        self.batches = found
        # An incomplete value at the end is overwritten.
        whole = b"".join(msgpack.packb(plain(batch)) for batch in self.batches)
        self.path.write_bytes(msgpack.packb([identity, facts]) + whole)
        return True


def _values(path: Path) -> list[Any]:
    with path.open("rb") as file:
        return list(msgpack.Unpacker(file, strict_map_key=False, max_buffer_size=1 << 30))


# A batch on one side, in as many processes as it takes: if a process ends early, only the case that
# it was running is lost, and another process continues after that case.

_MOST_DEATHS = 3


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a batch ran on one side."""

    file: Path
    """The values that its processes wrote, with "died" after each case in which a process ended."""
    status: BatchStatus
    seconds: float
    detail: str = ""
    is_answering: bool = True
    """Whether the device answered afterwards."""


def run_batch(
    start: Callable[[int], Ended], file: Path, answers: Callable[[Ended], bool]
) -> Attempt:
    """Run a batch. start: starts a process at the case with a number, and waits for its end.
    answers: says whether the device still works after a process that ended in this way."""
    seconds, detail, deaths, first = 0.0, "", 0, 0
    status = BatchStatus.DONE
    while True:
        ended = start(first)
        seconds += ended.seconds
        kinds = _kinds(file)
        if kinds[-1:] == ["finished"]:
            return Attempt(file, status, seconds, detail)
        deaths += 1
        status = BatchStatus.HUNG if ended.code is None else BatchStatus.CRASHED
        name = _name_of_last_case(file)
        is_within = kinds[-1:] in (["begin"], ["failed"])
        detail = _detail(ended, name if is_within else "")
        if kinds[-1:] == ["begin"]:
            _note_death(file, ended)
        if not answers(ended):
            return Attempt(file, status, seconds, detail, is_answering=False)
        if not is_within or deaths > _MOST_DEATHS:
            return Attempt(file, status, seconds, detail)
        first = kinds.count("begin")


def _kinds(file: Path) -> list[str]:
    """Return the kinds of values in a file, after removing an incomplete value at its end."""
    values = list(read_values(file))
    whole = b"".join(msgpack.packb(value) for value in values)
    if file.exists() and file.stat().st_size != len(whole):
        file.write_bytes(whole)
    return [str(value["kind"]) for value in values]


def _name_of_last_case(file: Path) -> str:
    names = [str(value["name"]) for value in read_values(file) if value["kind"] == "begin"]
    return names[-1] if names else ""


def _detail(ended: Ended, name: str) -> str:
    where = f"in {name}: " if name else ""
    if not ended.words:
        return f"{where}{ended.reason}"
    # The last line says what went wrong, as in Python's tracebacks, so it is repeated at the
    # beginning.
    last = f": {ended.words.splitlines()[-1].strip()}" if ended.code else ""
    return f"{where}{ended.reason}{last}\n{ended.words}"


def _note_death(file: Path, ended: Ended) -> None:
    value: Mapping[str, Any] = {
        "kind": "died",
        "is_hung": ended.code is None,
        "note": _detail(ended, ""),
    }
    with file.open("ab") as stream:
        stream.write(msgpack.packb(value))
