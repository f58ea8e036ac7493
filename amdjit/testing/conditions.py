"""Conditions on figures as text: `vgprs<=128, spills==0, gemm*: lds_conflicts==0`.

conditions = condition {("," | ";" | newline) condition}; `#` begins a comment
condition  = [kernel ":"] figure operator number [unit]
kernel     = a kernel's name, or a pattern as for files, `gemm_*`
operator   = "<=" | "<" | ">=" | ">" | "==" | "!="
unit       = "KiB" | "MiB" for figures in bytes, "%" for those in percent
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from amdjit.diagnostics import AmdjitError
from amdjit.testing.figures import FIGURES, Figure

__all__ = ["Condition", "ConditionError", "figure_of", "parse_conditions"]


class ConditionError(AmdjitError):
    """Text that is no condition; the message shows where."""


_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}
_SCALES = {"bytes": {"KiB": 1 << 10, "MiB": 1 << 20}, "%": {"%": 1}}


@dataclass(frozen=True, slots=True)
class Condition:
    """A bound of a figure. kernel: the pattern of the names of the kernels that it is about, None
    for all."""

    figure: Figure
    operator: str
    bound: float
    kernel: str | None = None

    def __str__(self) -> str:
        return f"{self.figure.name} {self.operator} {self.bound:,g}"

    def is_about(self, kernel: str) -> bool:
        """Whether the condition is about a kernel of this name."""
        return self.kernel is None or fnmatchcase(kernel, self.kernel)

    def holds(self, value: float) -> bool:
        """Whether the figure may have this value."""
        return _OPERATORS[self.operator](value, self.bound)


_SEPARATED = re.compile(r"[^,;\n]+")
_COMMENT = re.compile(r"#[^\n]*")
_PARTS = re.compile(
    r"""\s*(?:(?P<kernel>[^\s:]+)\s*:)?\s*
    (?P<figure>\w*)\s*
    (?P<operator>[<>=!]*)\s*
    (?P<number>[-+]?[\d_]*\.?\d*(?:[eE][-+]?\d+)?)\s*
    (?P<unit>%|[a-zA-Z]+(?![\w\s]*[<>=!])|)\s*
    (?P<rest>.*)""",
    re.VERBOSE | re.DOTALL,
)


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """Return the conditions that a text states; ConditionError if one is none, or if there are
    none."""
    plain = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    found = tuple(_conditions(text, plain))
    if not found:
        raise ConditionError(f"there is no condition; write one such as vgprs<=128{_known()}")
    return found


def _known() -> str:
    return f"; there are {', '.join(FIGURES)}"


def _conditions(text: str, plain: str) -> Iterator[Condition]:
    for piece in _SEPARATED.finditer(plain):
        if piece[0].strip():
            parts = _PARTS.match(piece[0])
            assert parts is not None  # every part may be empty
            yield _condition(parts, _Mistake(text, piece.start(), parts))


@dataclass(frozen=True, slots=True)
class _Mistake:
    """Makes the error of a part of a condition that begins at `start` of the text."""

    text: str
    start: int
    parts: re.Match[str]

    def at(self, part: str, said: str) -> ConditionError:
        """Return the error with a caret below the part."""
        first, end = (self.start + place for place in self.parts.span(part))
        line_start = self.text.rfind("\n", 0, first) + 1
        line = self.text[line_start:].partition("\n")[0]
        return ConditionError(
            f"{said}\n  {line}\n  {' ' * (first - line_start)}{_carets(first, end)}"
        )


def _carets(first: int, end: int) -> str:
    return "^" * max(1, end - first)


def _condition(parts: re.Match[str], mistake: _Mistake) -> Condition:
    try:
        figure = figure_of(parts["figure"])
    except ConditionError as error:
        raise mistake.at("figure", str(error)) from None
    if parts["operator"] not in _OPERATORS:
        raise mistake.at("operator", f"write one of {' '.join(_OPERATORS)} behind {figure.name}")
    try:
        bound = float(parts["number"])
    except ValueError:
        raise mistake.at("number", "here should be a number") from None
    scales = _SCALES.get(figure.unit, {})
    if parts["unit"] and parts["unit"] not in scales:
        units = f"it takes {' or '.join(scales)}" if scales else "it has no unit"
        raise mistake.at("unit", f"{parts['unit']} is no unit of {figure.name}: {units}")
    if parts["rest"]:
        raise mistake.at("rest", "write a comma between conditions")
    bound *= scales.get(parts["unit"], 1)
    return Condition(figure, parts["operator"], bound, parts["kernel"])


def figure_of(name: str) -> Figure:
    """Return the figure of a name; ConditionError with those alike if there is none."""
    if name in FIGURES:
        return FIGURES[name]
    if not name:
        raise ConditionError("here should be the name of a figure")
    near = get_close_matches(name, FIGURES, n=4, cutoff=0.5)
    near += [one for one in FIGURES if name in one and one not in near]
    alike = f"; alike are {', '.join(near)}" if near else _known()
    raise ConditionError(f"there is no figure {name!r}{alike}")
