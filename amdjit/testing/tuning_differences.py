"""What differs between two files of tuning results: the best configurations, and all times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from amdjit.testing.differences import Change, Difference, Differences, PartDifference, in_order
from amdjit.tuning.candidates import Candidate
from amdjit.tuning.records import KeyRecords, read_file

__all__ = ["tuning_differences"]

_SECONDS = "seconds"


def tuning_differences(old: Path, new: Path, names: tuple[str, str]) -> Differences:
    """Return what differs between two files of results.

    Results are of the same kernel if device, name, types and key values are equal; source and
    options may differ. Times are compared if they come from the same: measured ones with measured
    ones, estimates with estimates. TuningError for a file that is not one of results.
    """
    before, after = _by_title(old), _by_title(new)
    both = [title for title in before if title in after]
    found = [_difference(title, before[title], after[title]) for title in both]
    changed = in_order(found)
    return Differences(
        *names,
        changed=changed,
        same=len(found) - len(changed),
        added=tuple(title for title in after if title not in before),
        removed=tuple(title for title in before if title not in after),
    )


def _by_title(file: Path) -> dict[str, KeyRecords]:
    """Return the results of a file by what they are of; the last ones, if the source changed."""
    return {_title(known): known for known in read_file(file).values()}


def _title(known: KeyRecords) -> str:
    key = known.key
    return f"{key.kernel}({key.types}) for {key.device}" + f"; {key.values}" * bool(key.values)


def _difference(title: str, old: KeyRecords, new: KeyRecords) -> Difference:
    figures, note = [], ""
    if old.best is not None and new.best is not None:
        if old.best.text != new.best.text:
            note = f"the best: {old.best.text} -> {new.best.text}"
        before, after = old.best.seconds, new.best.seconds
        if old.best.by != new.best.by:
            note += f"{'; ' * bool(note)}times by {old.best.by} -> {new.best.by}"
        elif before is not None and after is not None and before != after:
            figures = [Change(_SECONDS, before, after, better="less")]
    parts = sorted(_parts(old, new), key=lambda part: -sum(one.growth for one in part.figures))
    return Difference(title, tuple(figures), tuple(parts), note)


def _parts(old: KeyRecords, new: KeyRecords) -> Iterator[PartDifference]:
    versions = [{str(one.configuration): one for one in known.all()} for known in (old, new)]
    for text in {**versions[0], **versions[1]}:
        one, other = (version.get(text) for version in versions)
        said, figures = _said(one, other), tuple(_times(one, other))
        if said or figures:
            yield PartDifference(text, said, figures)


def _said(old: Candidate | None, new: Candidate | None) -> str:
    if old is None or new is None:
        return "only in the second" if old is None else "only in the first"
    if old.state is new.state:
        return ""
    reason = f": {' '.join(new.reason.split())}" if new.reason else ""
    return f"{old.state.value} -> {new.state.value}{reason}"


def _times(old: Candidate | None, new: Candidate | None) -> Iterator[Change]:
    if old is None or new is None or old.by != new.by:
        return
    if old.seconds is not None and new.seconds is not None and old.seconds != new.seconds:
        yield Change(_SECONDS, old.seconds, new.seconds, better="less")
