"""The page of error codes."""

from __future__ import annotations

import re
import string
from typing import Any

from amdjit.diagnostics import codes
from generators.error_examples import examples
from generators.page_form import page


def errors() -> str:
    """Return the page of error codes."""
    introduction = (
        "Every error of the compiler has a stable code. It is raised as the exception named here, "
        "a subclass of `amdjit.CompileError`; `str(error)` shows the line with a caret, and "
        "`error.diagnostics` holds the values. Words in *italics* stand for what the error found. "
        "The tests compile the examples."
    )
    groups = {
        "AJ01": "Syntax",
        "AJ02": "Types",
        "AJ03": "Names and compile-time values",
        "AJ04": "Intrinsics, targets",
    }
    parts = [_several_errors()]
    for prefix, title in groups.items():
        parts.append(f"## {title}")
        parts += [_error(kind) for kind in codes.ALL if kind.code.startswith(prefix)]
    parts += ["## Launches", *(example.markdown() for example in examples("errors", "launch_"))]
    parts += ["## Warnings", *(example.markdown() for example in examples("warnings"))]
    parts += [
        "## Faults of a running kernel",
        *(example.markdown() for example in examples("errors", "fault_")),
    ]
    return page("Errors", "amdjit/diagnostics/codes.py and tests/golden", introduction, parts)


def _several_errors() -> str:
    text = (
        "All errors of a kernel are reported together, in the order of its lines. A refused "
        "statement does not end the compilation: the names that it would have assigned count as "
        "unknown, and uses of them cause no further errors. A function that is called several "
        "times is reported once. If a condition that may be known when compiling is refused, the "
        "statements after it are skipped. The exception is that of the first error; its text "
        "shows the first 20, and `error.diagnostics` holds all."
    )
    (example,) = examples("several", "helpers_and_loops")
    return f"## Several errors\n\n{text}\n\n{example.markdown()}"


def _error(kind: Any) -> str:
    first, *others = examples("errors", kind.code)
    lines = [f"### {kind.code}", f"{_fields(kind.title)} (`{kind.exception.__name__}`)"]
    if kind.help != "{remedy}":
        lines.append(f"Help: {_fields(kind.help)}")
    lines.append(first.markdown())
    titles = list(dict.fromkeys(other.title for other in others if other.title != first.title))
    if titles:
        lines.append("Also:\n\n" + "\n".join(f"- {title}" for title in titles))
    return "\n\n".join(lines)


def _fields(template: str) -> str:
    """Write a template's fields in italics, even within code."""
    parts = []
    for text, field, _, _ in string.Formatter().parse(template):
        parts.append(text + (f"\0{field}\0" if field else ""))
    joined = "".join(parts)
    plain = re.sub(r"`([^`]*)`", lambda match: re.sub(r"([^\0]+|\0\w+\0)", _code, match[1]), joined)
    return re.sub(r"\0(\w+)\0", r"*\1*", plain)


def _code(match: re.Match[str]) -> str:
    return match[1] if match[1].startswith("\0") else f"`{match[1]}`" if match[1] else ""
