"""Pieces of HTML for notebooks: titles, tables and parts that fold, everything escaped.

They need neither scripts nor style sheets, so that they look right in any notebook and when it is
exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["folded", "framed", "preformatted", "table", "title"]

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
