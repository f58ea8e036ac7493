"""The file of a run that is not complete: it grows with each batch, and the next run goes on with
it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack

from amdjit.probe.outcome import BatchOutcome, Facts, plain, read_batch, read_facts

__all__ = ["Partial"]


class Partial:
    """Batches that have ended, in a file. identity: what has to be the same for a run to go on with
    them: versions and device. why_anew: why it does not, if there was a file of another run."""

    def __init__(self, path: Path, identity: dict[str, str], facts: Facts) -> None:
        self.path = path
        self.why_anew = ""
        self.batches: list[BatchOutcome] = []
        if not self._goes_on(identity):
            self.path.write_bytes(msgpack.packb([identity, plain(facts)]))

    def add(self, batch: BatchOutcome) -> None:
        """Keep a batch."""
        self.batches.append(batch)
        with self.path.open("ab") as file:
            file.write(msgpack.packb(plain(batch)))

    def remove(self) -> None:
        """Remove the file, when the run is complete."""
        self.path.unlink(missing_ok=True)

    def _goes_on(self, identity: dict[str, str]) -> bool:
        """Read what is there; False if a new file must be begun."""
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
            self.why_anew = f"{self.path} is not continued: {'; '.join(changes)}"
            return False
        self.batches = found
        # What was cut off at the end is written over.
        whole = b"".join(msgpack.packb(plain(batch)) for batch in self.batches)
        self.path.write_bytes(msgpack.packb([identity, facts]) + whole)
        return True


def _values(path: Path) -> list[Any]:
    with path.open("rb") as file:
        return list(msgpack.Unpacker(file, strict_map_key=False, max_buffer_size=1 << 30))
