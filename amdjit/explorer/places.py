"""Which source line each line of a text stands for: of LLVM IR by its debug metadata, of the typed
tree by the numbers that it begins its lines with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

__all__ = ["Place", "ir_lines", "tree_lines"]

Place = tuple[str, int] | None

_METADATA = re.compile(r"^!(?P<number>\d+) = (?:distinct )?!(?P<kind>\w+)\((?P<fields>.*)\)$")
_FIELD = re.compile(r'(?P<name>\w+): (?:!(?P<node>\d+)|"(?P<text>[^"]*)"|(?P<word>[^,]*))')
_USE = re.compile(r",? !dbg !(?P<number>\d+)")
_TREE_FILE = re.compile(r"^# (?P<file>\S.*)$")
_TREE_LINE = re.compile(r"^\s*(?P<line>\d+) \|")

Nodes = Mapping[str, tuple[str, Mapping[str, str]]]


def ir_lines(text: str) -> Iterator[tuple[str, Place]]:
    """Yield the lines of LLVM IR, without metadata that only says where code comes from, each with
    the file and line that it was compiled for."""
    lines = text.splitlines()
    nodes = {number: node for line in lines for number, node in _metadata(line)}
    for line in lines:
        use = _USE.search(line)
        if not line.startswith("!"):
            yield _USE.sub("", line), _place(use["number"], nodes) if use else None


def _metadata(line: str) -> Iterator[tuple[str, tuple[str, Mapping[str, str]]]]:
    match = _METADATA.match(line) if line.startswith("!") else None
    if match:
        fields = {
            each["name"]: each["node"] or each["text"] or each["word"] or ""
            for each in _FIELD.finditer(match["fields"])
        }
        yield match["number"], (match["kind"], fields)


def _place(number: str, nodes: Nodes) -> Place:
    kind, fields = nodes.get(number, ("", {}))
    line = fields.get("line", "0")
    if kind not in ("DILocation", "DISubprogram") or not line.isdigit() or line == "0":
        return None
    file = _file(number, nodes)
    return (file, int(line)) if file else None


def _file(number: str, nodes: Nodes) -> str:
    """Return the path of the file of a scope, or of the scope around it that has one."""
    seen: set[str] = set()
    while number in nodes and number not in seen:
        seen.add(number)
        kind, fields = nodes[number]
        if kind == "DIFile":
            folder, name = fields.get("directory", ""), fields.get("filename", "")
            return f"{folder}/{name}" if folder and not name.startswith("/") else name
        number = fields.get("file") or fields.get("scope", "")
    return ""


def tree_lines(text: str) -> Iterator[tuple[str, Place]]:
    """Yield the lines of a printed typed tree, each with its file and line."""
    file = ""
    for line in text.splitlines():
        name = _TREE_FILE.match(line)
        file = name["file"] if name else file
        number = _TREE_LINE.match(line)
        yield line, (file, int(number["line"])) if number and file else None
