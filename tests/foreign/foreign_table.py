"""The table in docs/foreign.md: one row for each compiler and kernel, from what ran."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_BEGIN, _END = "<!-- written by the tests: begin -->", "<!-- end -->"


@dataclass(frozen=True)
class Row:
    """One code object that ran.

    error: the largest difference from NumPy's result, in units of what the test allows; None where
    both are equal in every bit. findings: what the sanitizer reported, as check/kind.
    """

    compiler: str
    version: str
    kernel: str
    variant: str
    error: float | None
    findings: tuple[str, ...] = ()
    note: str = ""


Record = Callable[[Row], None]
_HEAD = [
    "| compiler | kernel | variants | objects | result | sanitizer | notes |",
    "|---|---|---|---|---|---|---|",
]


def table_page(page: str, rows: Sequence[Row]) -> str:
    """Return the page with its table written anew for the compilers that ran; the others keep their
    lines."""
    before, _, rest = page.partition(_BEGIN)
    table, _, after = rest.partition(_END)
    ran = tuple(f"| {row.compiler} " for row in rows)
    kept = [
        line
        for line in table.splitlines()
        if line.startswith("| ") and not line.startswith((*ran, _HEAD[0]))
    ]
    lines = sorted([*kept, *_lines(rows)], key=lambda line: line.split(" ")[1].lower())
    return "\n".join([f"{before}{_BEGIN}", *_HEAD, *lines, f"{_END}{after}"])


def _lines(rows: Sequence[Row]) -> list[str]:
    lines = []
    kinds = dict.fromkeys((row.compiler, row.version, row.kernel) for row in rows)
    for compiler, version, kernel in kinds:
        same = [
            row
            for row in rows
            if (row.compiler, row.version, row.kernel) == (compiler, version, kernel)
        ]
        cells = [f"{compiler} {version}", kernel, _variants(same), str(len(same))]
        lines.append(
            "| " + " | ".join([*cells, _result(same), _findings(same), _notes(same)]) + " |"
        )
    return lines


def _variants(rows: Sequence[Row]) -> str:
    return "; ".join(dict.fromkeys(row.variant for row in rows))


def _result(rows: Sequence[Row]) -> str:
    errors = [row.error for row in rows if row.error is not None]
    if not errors:
        return "exact"
    largest = f"at most {max(errors):.2f} of the bound"
    return (
        largest
        if len(errors) == len(rows)
        else f"exact in {len(rows) - len(errors)}, else {largest}"
    )


def _findings(rows: Sequence[Row]) -> str:
    found = [finding for row in rows for finding in row.findings]
    return ", ".join(f"`{name}` ({found.count(name)})" for name in sorted(set(found))) or "clean"


def _notes(rows: Sequence[Row]) -> str:
    return " ".join(dict.fromkeys(row.note for row in rows if row.note))
