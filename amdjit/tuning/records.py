"""Results in a file that people share: JSON Lines, one object in each line, added as they come.

    {"kind": "file", "schema": "amdjit.tuning/1", ...}
    {"kind": "key", "key": "9c0f...", "device": "gfx1201", "kernel": "gemm", ...}
    {"kind": "candidate", "key": "9c0f...", "rules": "51...", "text": "BM=64, BN=64", ...}
    {"kind": "best", "key": "9c0f...", "rules": "51...", "text": "BM=64, BN=64", "by": "model", ...}

Each line is written with one call, so that several processes may write to one file, and a process
that is killed leaves complete lines except for the last one. The last line about something is
valid. Two files are therefore merged by concatenation.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from amdjit.tuning.candidates import Candidate
from amdjit.tuning.configurations import Configuration
from amdjit.tuning.errors import TuningError
from amdjit.tuning.keys import TuningKey

__all__ = ["SCHEMA", "Best", "KeyRecords", "Records", "merge", "own_version", "read_file"]

_LOGGER = logging.getLogger("amdjit")
SCHEMA = "amdjit.tuning/1"


@dataclass(frozen=True, slots=True)
class Best:
    """The best candidate of a key."""

    text: str
    rules: str
    by: str
    """What it was chosen by: "events", "model", "static" or the name of a ranking."""
    seconds: float | None
    complete: bool
    """Whether the whole space was searched."""
    space: int
    """How many configurations were searched."""


@dataclass
class KeyRecords:
    """What a file has about one key."""

    heading: dict[str, Any]
    """The key's own line."""
    candidates: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The candidates of the latest rules, by the text of the configuration."""
    best: Best | None = None

    @property
    def key(self) -> TuningKey:
        """The key."""
        names = TuningKey.__dataclass_fields__
        return TuningKey(**{name: str(self.heading.get(name, "")) for name in names})

    def of_rules(
        self, rules: str, configurations: Mapping[str, Configuration]
    ) -> dict[str, Candidate]:
        """Return the candidates that were found under these rules, by text."""
        found = {}
        for text, record in self.candidates.items():
            if record.get("rules") == rules and text in configurations:
                found[text] = Candidate.read(record, configurations[text])
        return found

    def all(self) -> list[Candidate]:
        """Return all candidates, the best first."""
        return sorted(map(Candidate.read, self.candidates.values()), key=lambda each: each.order)


@dataclass
class Records:
    """A file of results."""

    path: Path | None
    """The file; None stores nothing."""
    keys: dict[str, KeyRecords] = field(default_factory=dict)
    """What is known, by the digest of the key."""

    @staticmethod
    def open(path: Path | None) -> Records:
        """Return the records of a file, or none if there is no such file; TuningError if it is a
        file of another kind."""
        if path is None or not path.exists():
            return Records(path)
        return Records(path, read_file(path))

    def find(self, key: TuningKey) -> KeyRecords | None:
        """Return what is known about a key."""
        return self.keys.get(key.digest)

    def begin(self, key: TuningKey, **facts: Any) -> None:
        """Write down a key before it is searched."""
        self._write({"kind": "key", "key": key.digest, **asdict(key), **facts})

    def add(self, key: TuningKey, rules: str, candidate: Candidate) -> None:
        """Write down a candidate."""
        self._write({"kind": "candidate", "key": key.digest, "rules": rules, **candidate.record()})

    def choose(self, key: TuningKey, best: Best) -> None:
        """Write down the best candidate of a key."""
        self._write({"kind": "best", "key": key.digest, **asdict(best)})

    def _write(self, record: dict[str, Any]) -> None:
        _take(self.keys, record)
        if self.path is None:
            return
        try:
            _append(self.path, record)
        except OSError as problem:
            raise TuningError(f"{self.path} cannot be written: {problem}") from problem


def _append(path: Path, record: Mapping[str, Any]) -> None:
    text = json.dumps(record, ensure_ascii=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        end = file.seek(0, os.SEEK_END)
        if end == 0:
            text = _header() + text
        else:
            file.seek(end - 1)
            if file.read(1) != b"\n":  # a process was killed in the middle of a line
                text = "\n" + text
        file.write(text.encode())


def own_version() -> str:
    """Return the version of amdjit, "unknown" if it is not installed."""
    try:
        return version("amdjit")
    except PackageNotFoundError:
        return "unknown"


def _header() -> str:
    head = {"kind": "file", "schema": SCHEMA, "written_by": f"amdjit {own_version()}"}
    return json.dumps(head) + "\n"


def read_file(path: Path) -> dict[str, KeyRecords]:
    """Return the contents of a file, by key. A damaged line is left out, with a warning in the log;
    TuningError for a file that is not a file of results, or is of another version."""
    try:
        contents = path.read_bytes()
    except OSError as problem:
        raise TuningError(f"{path} cannot be read: {problem}") from problem
    found: dict[str, KeyRecords] = {}
    schemas = set()
    for number, record in _lines(path, contents):
        if record.get("kind") == "file":
            schemas.add(record.get("schema"))
            continue
        if not schemas:
            break
        try:
            _take(found, record)
        except (KeyError, TypeError, ValueError) as problem:
            _LOGGER.warning("%s, line %d is left out: %s", path, number, problem)
    if contents.strip() and schemas != {SCHEMA}:
        what = f"its schema is {', '.join(sorted(map(str, schemas)))}" if schemas else "no schema"
        raise TuningError(
            f"{path} is not a file of tuning results ({what}; expected {SCHEMA}): give another "
            "path, cache=..., or remove the file"
        )
    return found


def _lines(path: Path, contents: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(contents.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, UnicodeDecodeError):
            record = None
        if isinstance(record, dict):
            yield number, record
        else:
            _LOGGER.warning("%s, line %d is damaged; it is left out", path, number)


def _take(keys: dict[str, KeyRecords], record: dict[str, Any]) -> None:
    """Add a line to what is known."""
    kind = record["kind"]
    key = record["key"]
    if kind == "key":
        known = keys.setdefault(key, KeyRecords(record))
        known.heading = record
    elif kind == "candidate":
        Candidate.read(record)
        keys[key].candidates[record["text"]] = record
    elif kind == "best":
        names = Best.__dataclass_fields__
        keys[key].best = Best(**{name: record[name] for name in names})
    elif kind == "forgotten":
        keys[key] = KeyRecords(keys[key].heading)


def merge(paths: Iterable[Path], output: Path) -> None:
    """Write the results of several files to one. TuningError if one is not a file of results."""
    merged = Records(None)
    for path in paths:
        for digest, known in read_file(path).items():
            mine = merged.keys.setdefault(digest, KeyRecords(known.heading))
            mine.candidates |= known.candidates
            if _is_better(known.best, mine.best):
                mine.best = known.best
    lines = [_header()]
    for digest, known in merged.keys.items():
        lines.append(json.dumps(known.heading, ensure_ascii=False) + "\n")
        lines += [json.dumps(each, ensure_ascii=False) + "\n" for each in known.candidates.values()]
        if known.best is not None:
            best = {"kind": "best", "key": digest, **asdict(known.best)}
            lines.append(json.dumps(best, ensure_ascii=False) + "\n")
    temporary = output.with_name(f"{output.name}.{os.getpid()}.tmp")
    temporary.write_text("".join(lines), encoding="utf-8")
    temporary.replace(output)


def _is_better(one: Best | None, other: Best | None) -> bool:
    """Whether a result is better than another: complete ones first, then the faster one."""
    if one is None or other is None:
        return one is not None
    if one.complete != other.complete:
        return one.complete
    return (one.seconds or float("inf")) < (other.seconds or float("inf"))
