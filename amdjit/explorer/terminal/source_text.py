"""The source lines of an inspection, if its companion has them."""

from __future__ import annotations

from pathlib import PurePath

from amdjit.inspection.facts import SourcePlace
from amdjit.inspection.kernel_facts import KernelFacts

__all__ = ["place_text", "source_line"]


def source_line(inspection: KernelFacts, file: str | None, line: int | None) -> str:
    """Return the text of a source line without its margin; "" if it is not known."""
    text = inspection.companion.sources.get(file or "", "")
    lines = text.splitlines()
    return lines[line - 1].strip() if line is not None and 0 < line <= len(lines) else ""


def place_text(place: SourcePlace | None) -> str:
    """Return `saxpy.py:7`, or "" for no place."""
    return "" if place is None else f"{PurePath(place[0]).name}:{place[1]}"
