"""A kernel's facts as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import PurePath

from amdjit.inspection.facts import KernelFacts

__all__ = ["folded", "framed", "kernel_html", "preformatted", "table", "title"]


def kernel_html(facts: KernelFacts, signature: str = "", with_lines: bool = True) -> str:
    """Return the resources, the occupancy and the listing of a kernel. signature: its title, its
    name unless given."""
    waves = facts.occupancy.waves_per_simd
    limit = facts.occupancy.limited_by
    occupancy = f"{waves} a SIMD" + (f", limited by {limit}" if limit != "none" else "")
    resources = (
        facts.vgprs,
        facts.sgprs,
        f"{facts.vgpr_spills} + {facts.sgpr_spills}",
        facts.lds_bytes,
        facts.scratch_bytes,
        facts.code_bytes,
        occupancy,
    )
    return framed(
        title(signature or facts.kernel, f"for {facts.target}, wave{facts.wave_size}"),
        table(
            ("VGPRs", "SGPRs", "spills", "LDS bytes", "scratch bytes", "code bytes", "waves"),
            [resources],
        ),
        *(title("", step.text) for step in facts.occupancy.steps[:1]),
        _lines(facts) if with_lines and facts.lines else "",
        _listing(facts),
        *(title("not known:", text) for text in facts.missing),
    )


def _lines(facts: KernelFacts) -> str:
    rows = [
        (
            f"{PurePath(line.file).name}:{line.line}",
            line.instructions,
            ", ".join(f"{count} {unit}" for unit, count in line.units.items()),
            line.peak_vgprs,
            _source(facts, line.file, line.line),
        )
        for line in sorted(facts.lines.values(), key=lambda line: (line.file, line.line))
    ]
    return folded(
        f"{len(rows)} source lines",
        table(("line", "instructions", "units", "live VGPRs", "source"), rows),
    )


def _source(facts: KernelFacts, file: str, line: int) -> str:
    lines = facts.companion.sources.get(file, "").splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _listing(facts: KernelFacts) -> str:
    if not facts.instructions:
        return ""
    text, place = [], None
    for item in facts.instructions:
        if item.place is not None and item.place != place:
            place = item.place
            source = _source(facts, *place)
            text.append(f"; {PurePath(place[0]).name}:{place[1]}  {source}".rstrip())
        text.append(f"  {item.address:#x}  {item.text}")
    return folded(f"{len(facts.instructions)} instructions", preformatted("\n".join(text)))


# Pieces of HTML for notebooks: titles, tables and parts that fold, everything escaped.
#
# They need neither scripts nor style sheets, so that they look right in any notebook and when it is
# exported.


_CELL = "padding: 0 0.6em; text-align: {}; white-space: pre"


def framed(*parts: str) -> str:
    """Return parts as one element."""
    return f'<div class="amdjit" style="line-height: 1.4">{"".join(parts)}</div>'


def title(text: str, rest: str = "") -> str:
    """Return a line that begins in bold."""
    return f"<div><b>{escape(text)}</b> {escape(rest)}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; numbers stand to the right, with their thousands apart."""
    top = "".join(f'<th style="{_CELL.format("left")}">{escape(name)}</th>' for name in head)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"


def _cell(value: object) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    text = f"{value:,}" if is_number else str(value)
    return f'<td style="{_CELL.format("right" if is_number else "left")}">{escape(text)}</td>'


def preformatted(text: str) -> str:
    """Return text as it is."""
    return f'<pre style="line-height: 1.2; overflow-x: auto">{escape(text)}</pre>'


def folded(summary: str, *parts: str) -> str:
    """Return parts that a click, or a key, unfolds."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"
