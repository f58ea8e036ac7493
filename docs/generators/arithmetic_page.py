"""The part of the page on arithmetic that says how well results of the vector unit are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from amdjit.intrinsics.models.certainty import MEANING, Known
from amdjit.intrinsics.models.vector_arithmetic import ROWS
from generators.matrix_pages import meanings

FILE = Path(__file__).parents[1] / "arithmetic.md"
HEAD = ("certainty", "instructions", "processors", "source", "not known")
_MARKED = re.compile(r"(<!-- generated: arithmetic -->\n).*?(<!-- end -->)", re.DOTALL)


def known_rows() -> Iterator[tuple[str, ...]]:
    """Yield what is known, with a row for all instructions of which the same is known."""
    found: dict[tuple[Known, str], list[str]] = {}
    for name, row in ROWS.items():
        others = "others" if row.captured else "all"
        for processor, known in {**row.captured, others: row.otherwise}.items():
            found.setdefault((known, processor), []).append(f"`{name}`")
    for (known, processor), names in sorted(
        found.items(), key=lambda item: list(MEANING).index(item[0][0].certainty)
    ):
        yield known.certainty, ", ".join(names), processor, known.source, known.open


def page(table: Callable[..., str]) -> str:
    """Return the page with the current table."""
    shown = f"{meanings()}\n\n{table(HEAD, list(known_rows()))}"
    return _MARKED.sub(lambda match: f"{match[1]}{shown}\n{match[2]}", FILE.read_text())
