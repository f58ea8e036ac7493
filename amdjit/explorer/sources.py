"""The texts of source files that debug information names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amdjit.inspection.inspection import Inspection

__all__ = ["with_sources"]

# A code object may name any file, and a page is passed around: only files that are source code by
# their names are read.
_SOURCES = frozenset(
    {".py", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hip", ".cu", ".cuh", ".cl", ".mlir"}
)
_MOST_BYTES = 1 << 22


def with_sources(inspection: Inspection) -> Inspection:
    """Return the inspection with the texts of the files that its lines name, as far as they are on
    this machine and not there already."""
    texts = dict(inspection.companion.sources)
    for name in dict.fromkeys(_named_files(inspection)):
        if name not in texts and (text := _read(name)) is not None:
            texts[name] = text
    return replace(inspection, companion=replace(inspection.companion, sources=texts))


def _named_files(inspection: Inspection) -> list[str]:
    files = [each.file for each in inspection.instructions if each.file is not None]
    calls = [call.file for each in inspection.instructions for call in each.inlined_from]
    return files + calls


def _read(name: str) -> str | None:
    path = Path(name)
    try:
        if path.suffix in _SOURCES and path.is_file() and path.stat().st_size <= _MOST_BYTES:
            return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    return None
