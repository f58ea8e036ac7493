"""Kernels and the lines that they become, which stand as comments at the end of each kernel.

    # CHECK: text        a line after the last match contains the text
    # CHECK-NEXT: text   the line after the last match contains it
    # CHECK-DAG: text    as CHECK, but neighbouring DAG lines match in any order
    # CHECK-NOT: text    no line between the last match and the next one (or the end) contains it

A `%name` of IR stands for the value or label of that name or for a numbered value, a register of
machine code for any register: each for the same one in all lines of a case. `%?`, `v?` and `s?`
stand for any one each time. `{{...}}` is a regular expression. A case is a kernel; its docstring
says what the lines prove.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_KINDS = ("CHECK", "CHECK-NEXT", "CHECK-DAG", "CHECK-NOT")
_CHECK = re.compile(r"^\s*#\s*(CHECK[\w-]*):\s*(.*?)\s*$")
_NAME = re.compile(r"(?<![\w.%])(%(?:\?|[-\w.$]+)|[vs](?:\?|\d+\b|\[\d+:\d+\]))")
# What a name stands for, by its first character and whether it is a range of registers.
_ANY = {
    "%": r"%\.?\d[\w.]*",
    "v": r"v\d+\b",
    "s": r"s\d+\b",
    "v[": r"v\[\d+:\d+\]",
    "s[": r"s\[\d+:\d+\]",
}
# How many lines before the last match an error shows, and half as many as those after it.
_SHOWN = 20
# How much of a line must be as it was for `--update-golden` to take it for the new form.
_ALIKE = 0.5


@dataclass(frozen=True)
class Check:
    """One expected line: its kind, its text and the number of its line in the file."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True)
class Case:
    """A kernel of a file and its expected lines."""

    file: Path
    kernel: str
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        return f"{self.file.stem}-{self.kernel}"


class Mismatch(AssertionError):
    """An expected line that is not there, or one that should not be."""

    def __init__(self, check: Check, words: str, state: Matching) -> None:
        first = max(0, state.position - _SHOWN)
        shown = "\n".join(state.lines[first : first + 3 * _SHOWN])
        super().__init__(f"line {check.line}: {check.kind}: {check.text}\n{words}\n\n{shown}")
        self.check = check
        self.state = state


@dataclass
class Matching:
    """How far the lines of a text have been matched, and what the names stand for."""

    lines: list[str]
    position: int = 0
    names: dict[str, str] = field(default_factory=dict)


def read_cases(file: Path) -> Iterator[Case]:
    """Yield the kernels of a file with their expected lines."""
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    body = ast.parse(text).body
    ends = [*map(_first_line, body[1:]), len(lines) + 1]
    for node, end in zip(body, ends, strict=True):
        if not isinstance(node, ast.FunctionDef) or "kernel" not in map(_name, node.decorator_list):
            continue
        region = range(node.lineno, end)
        found = ((number, _CHECK.match(lines[number - 1])) for number in region)
        checks = tuple(Check(check[1], check[2], number) for number, check in found if check)
        assert checks, f"{file.name}: {node.name} expects nothing"
        assert ast.get_docstring(node), f"{file.name}: {node.name} does not say what it proves"
        unknown = [check.kind for check in checks if check.kind not in _KINDS]
        assert not unknown, f"{file.name}: {node.name}: no such checks: {unknown}"
        assert checks[0].kind != "CHECK-NEXT", f"{file.name}: {node.name}: next to what?"
        yield Case(file, node.name, checks)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])


def _name(decorator: ast.expr) -> str:
    return ast.unparse(decorator).removeprefix("amdjit.").partition("(")[0]


def match(lines: Iterable[str], checks: Iterable[Check]) -> None:
    """Raise Mismatch for the first expected line that the text does not meet."""
    state = Matching([" ".join(line.split()) for line in lines])
    unwanted: list[Check] = []
    taken: set[int] = set()
    start, last = 0, ""
    for check in checks:
        if check.kind == "CHECK-NOT":
            unwanted.append(check)
            continue
        if not (check.kind == last == "CHECK-DAG") or unwanted:
            start, taken = state.position, set()
        number = _find(state, check, start, taken)
        _refuse(state, unwanted, start, number)
        unwanted, last = [], check.kind
        taken.add(number)
        state.position = max(taken) + 1
    _refuse(state, unwanted, state.position, len(state.lines))


def _find(state: Matching, check: Check, start: int, taken: set[int]) -> int:
    end = start + 1 if check.kind == "CHECK-NEXT" else len(state.lines)
    for number in range(start, min(end, len(state.lines))):
        found = None if number in taken else _pattern(check.text, state).search(state.lines[number])
        if found:
            state.names |= {
                bytes.fromhex(group[1:]).decode(): text for group, text in found.groupdict().items()
            }
            return number
    where = state.lines[start - 1] if start else "the beginning"
    raise Mismatch(check, f"not found after: {where}", state)


def _refuse(state: Matching, unwanted: list[Check], start: int, end: int) -> None:
    for check in unwanted:
        for line in state.lines[start:end]:
            if _pattern(check.text, state).search(line):
                raise Mismatch(check, f"should not be there: {line}", state)


def _pattern(text: str, state: Matching) -> re.Pattern[str]:
    """Return the regular expression of an expected text, where some names are known."""
    text = " ".join(text.split())
    here: set[str] = set()
    parts = re.split(r"(\{\{.*?\}\})", text)
    found = "".join(
        f"(?:{part[2:-2]})" if part.startswith("{{")
        else "".join(_piece(piece, state, here) for piece in _NAME.split(part))
        for part in parts
    )  # fmt: skip
    before = r"(?<![\w.])" if re.match(r"\w", text) else ""
    return re.compile(before + found + (r"(?![\w.])" if re.search(r"\w$", text) else ""))


def _piece(piece: str, state: Matching, here: set[str]) -> str:
    if not _NAME.fullmatch(piece):
        return re.escape(piece)
    kind = piece[0]
    if piece.endswith("?"):
        return r"%[-\w.$]+" if kind == "%" else f"(?:{_ANY[kind]}|{_ANY[kind + '[']})"
    if piece in state.names:
        return re.escape(state.names[piece]) + r"(?![-\w.$])"
    if piece in here:
        return f"(?P={_group(piece)})"
    here.add(piece)
    itself = re.escape(piece) + r"(?![-\w.$])|" if kind == "%" else ""
    return f"(?P<{_group(piece)}>{itself}{_ANY[kind + '[' * ('[' in piece)]})"


def _group(name: str) -> str:
    return "n" + name.encode().hex()


def new_text(mismatch: Mismatch) -> str | None:
    """Return the line that most likely took the place of an expected one, in its words; None if
    none is like it."""
    check, state = mismatch.check, mismatch.state
    rest = state.lines[state.position :]
    if check.kind == "CHECK-NOT" or not rest:
        return None
    shapes = [_NAME.sub("?", line) for line in rest]
    shape = _NAME.sub("?", check.text)
    alike = [difflib.SequenceMatcher(None, shape, other).ratio() for other in shapes]
    best = max(range(len(rest)), key=alike.__getitem__)
    if check.kind == "CHECK-NEXT":
        best = 0
    if alike[best] < _ALIKE:
        return None
    old, known = _NAME.findall(check.text), {value: name for name, value in state.names.items()}
    names = iter(old if len(old) == len(_NAME.findall(rest[best])) else ())
    return _NAME.sub(lambda m: next(names, known.get(m[0], m[0][0] + "?")), rest[best])
