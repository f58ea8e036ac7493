"""What the probe runs on a device: a module for each kind, which makes its batches for a target.

The corpus is generated: the same version gives the same cases, names and inputs on every machine.
"""

from __future__ import annotations

from pathlib import Path

import xxhash

from amdjit.probe.case import Batch, Group
from amdjit.probe.corpus import (
    approximate,
    basics,
    examples,
    instructions,
    language,
    matrix,
    memory,
)
from amdjit.probe.timing import batches as timing
from amdjit.target import Target

__all__ = ["VERSION", "batches", "corpus_version"]

VERSION = 1
_MODULES = (
    basics,
    examples,
    instructions,
    matrix,
    approximate,
    memory,
    language,
    timing,
)
_PACKAGE = Path(__file__).parents[2]
# The packages that programs which run on a GPU are written with.
_SOURCES = ("probe/corpus", "probe/machine_code", "probe/timing", "isa/encoding")


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the batches for a processor, in the order in which they run. For a processor that is
    not emulated, these are only the measurements, because there is nothing to compare results
    with."""
    modules = _MODULES if target.is_emulated else (timing,)
    found = [batch for module in modules for batch in module.batches(target)]
    order = list(Group)
    return tuple(sorted(found, key=lambda batch: order.index(batch.group)))


def corpus_version() -> str:
    """Return the corpus' version: a number for people, and a digest of its sources."""
    digest = xxhash.xxh3_64()
    for folder in _SOURCES:
        for file in sorted((_PACKAGE / folder).rglob("*.[px][yz]")):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(_PACKAGE).as_posix()}\n".encode())
            digest.update(content.replace(b"\r\n", b"\n") if file.suffix == ".py" else content)
    return f"{VERSION}-{digest.hexdigest()[:8]}"
