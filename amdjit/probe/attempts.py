"""A batch on one side, in as many processes as it takes: what ends a process costs the case that
ran, and the next process goes on after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack

from amdjit.probe.outcome import BatchStatus
from amdjit.probe.processes import Ended
from amdjit.probe.streams import read_values

__all__ = ["Attempt", "run_batch"]

_MOST_DEATHS = 3


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a batch went on one side. file: the values that its processes wrote, with a "died" after
    the case in which one ended. is_answering: False if the device did not answer afterwards."""

    file: Path
    status: BatchStatus
    seconds: float
    detail: str = ""
    is_answering: bool = True


def run_batch(
    start: Callable[[int], Ended], file: Path, answers: Callable[[Ended], bool]
) -> Attempt:
    """Run a batch. start: starts a process from the case of a number on, and waits for it; answers:
    whether the device works after a process that ended so."""
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
    """Return what a file has, after a value that is cut off at its end is gone."""
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
    # The last line says what went wrong, as in Python's tracebacks: it comes first, too.
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
