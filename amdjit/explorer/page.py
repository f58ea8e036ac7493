"""`write_inspection_page` and `write_profile_page`: the explorer's page, one file of HTML."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from amdjit.explorer.page_data import Interned, Launch, inspection_data, launch_data
from amdjit.inspection.comparison import Alignment
from amdjit.inspection.facts import KernelFacts

__all__ = [
    "ProfiledLaunches",
    "document",
    "in_script",
    "inspection_page",
    "modules_in_order",
    "profile_page",
    "script_of",
    "with_sources",
    "write_inspection_page",
    "write_profile_page",
]


class ProfiledLaunches(Protocol):
    """The parts of a profile that the page reads."""

    @property
    def launches(self) -> Sequence[Launch]:
        """The launches in their order."""


def write_inspection_page(
    inspection: KernelFacts, path: str | PathLike[str], other: KernelFacts | None = None
) -> None:
    """Write the page of a kernel. If there is another inspection, the page compares the two.
    OSError if the file cannot be written."""
    Path(path).write_text(inspection_page(inspection, other), encoding="utf-8")


def write_profile_page(
    profile: ProfiledLaunches,
    path: str | PathLike[str],
    known: Iterable[KernelFacts] = (),
) -> None:
    """Write the page of the kernels that a profile saw, with the counts and cycles of each launch.

    known: inspections of launched kernels that have more facts, such as LLVM IR. ValueError for a
    profile without launches, OSError if the file cannot be written.
    """
    Path(path).write_text(profile_page(profile, known), encoding="utf-8")


def inspection_page(inspection: KernelFacts, other: KernelFacts | None = None) -> str:
    """Return the page of a kernel as text."""
    inspections = [inspection] if other is None else [inspection, other]
    versions = [{"name": "AB"[number], "kernel": number} for number in range(len(inspections))]
    moved = None if other is None else _moved(inspection, other)
    return _page(inspections, versions, moved)


def profile_page(profile: ProfiledLaunches, known: Iterable[KernelFacts] = ()) -> str:
    """Return the page of a profile as text."""
    if not profile.launches:
        raise ValueError("the profile has no launches: nothing ran on the emulator inside of it")
    kernels: Interned[tuple[bytes, str]] = Interned()
    versions = [
        {
            "name": f"launch {number}: {launch.kernel}",
            "kernel": kernels.number(_key(launch)),
            "launch": launch_data(launch),
        }
        for number, launch in enumerate(profile.launches, 1)
    ]
    of_known = {_key(each): each for each in known}
    first = {_key(launch): launch for launch in reversed(profile.launches)}
    inspections = [of_known.get(key) or first[key].inspection for key in kernels.values()]
    return _page(inspections, versions, None)


def _key(code: Launch | KernelFacts) -> tuple[bytes, str]:
    return code.code_object, code.kernel


def _moved(before: KernelFacts, after: KernelFacts) -> list[list[Any]]:
    """Return where the lines of the second kernel were in the first, for lines that moved or are
    new: the file and line, and the file and line before, if there was one."""
    aligned = Alignment(before, after)
    places = [(place, aligned.before(place)) for place in after.lines]
    return [[*now, *(then or ())] for now, then in places if now != then]


def _page(
    inspections: list[KernelFacts], versions: list[dict[str, Any]], moved: list[list[Any]] | None
) -> str:
    title = " and ".join(dict.fromkeys(each.kernel for each in inspections))
    kernels = [inspection_data(with_sources(each)) for each in inspections]
    return document(title, {"kernels": kernels, "versions": versions, "moved": moved})


# The texts of the source files that debug information names.

# A code object may name any file, and pages are passed around, so only files that are named like
# source code are read.
_SOURCES = frozenset(
    {".py", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hip", ".cu", ".cuh", ".cl", ".mlir"}
)
_MOST_BYTES = 1 << 22


def with_sources(inspection: KernelFacts) -> KernelFacts:
    """Return the inspection with the texts of the files that its lines name, if they are on this
    machine and the inspection does not have them yet."""
    texts = dict(inspection.companion.sources)
    for name in dict.fromkeys(_named_files(inspection)):
        if name not in texts and (text := _read(name)) is not None:
            texts[name] = text
    return replace(inspection, companion=replace(inspection.companion, sources=texts))


def _named_files(inspection: KernelFacts) -> list[str]:
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


# Makes one HTML file from the scripts and style sheets in `web`.
#
# The scripts are ES modules that import each other by relative names and export what they declare.
# A browser does not load modules from disk, so they are joined into a single script: each module
# becomes a function that returns what it exports, after the modules that it imports.
#
# The page's content security policy allows this script and this style sheet by their digests, and
# nothing else: no network and no other script, whatever text the page shows.


_STYLES = ("theme.css", "layout.css", "listing.css", "panels.css", "print.css")
_PART = re.compile(r"\{(?P<part>title|policy|style|script|data)\}")
_IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}) from "\./(?P<module>\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function) (?P<name>\w+))", re.MULTILINE)


def document(title: str, data: Any) -> str:
    """Return the whole page. data: what the page shows, as JSON values."""
    script, style = script_of("main"), _style()
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "title": in_html(title),
        "policy": in_html(policy),
        "style": style,
        "script": script,
        "data": in_script(data),
    }
    return _PART.sub(lambda match: parts[match["part"]], _part("page.html"))


@cache
def script_of(entry: str) -> str:
    """Return a module and all modules that it needs as one script. entry: the name without
    `.js`."""
    return '\n"use strict";\n' + "\n".join(map(_as_function, modules_in_order(entry)))


def modules_in_order(entry: str) -> tuple[str, ...]:
    """Return the modules that a module needs, each after those that it imports, and the module
    itself last. ValueError if modules import each other in a circle."""
    done: list[str] = []

    def visit(name: str, importers: tuple[str, ...]) -> None:
        if name in importers:
            raise ValueError(f"modules import each other: {' -> '.join((*importers, name))}")
        if name not in done:
            for imported in _IMPORT.finditer(_part(f"{name}.js")):
                visit(imported["module"], (*importers, name))
            done.append(name)

    visit(entry, ())
    return tuple(done)


def _as_function(name: str) -> str:
    text = _part(f"{name}.js")
    exported = ", ".join(match["name"] for match in _EXPORT.finditer(text))
    body = _EXPORT.sub("", _IMPORT.sub(r"const \g<names> = \g<module>_module;", text))
    return f"const {name}_module = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


@cache
def _style() -> str:
    return "\n" + "\n".join(_part(name) for name in _STYLES)


@cache
def _part(name: str) -> str:
    return (files(__name__.rpartition(".")[0]) / "web" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# Foreign text inside HTML: source lines, symbol names and file names may contain anything.
#
# The page's scripts insert text into the document only as text nodes; text that Python writes
# itself passes through these functions.

# A script element ends at the first `</script`, and `<!--` in it changes how it is parsed, so these
# characters are escaped in the data.
_IN_SCRIPT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def in_html(text: str) -> str:
    """Return text for use between tags, or in an attribute's value in double quotes."""
    replaced = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(replaced.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def in_script(value: Any) -> str:
    """Return a value as JSON for the inside of a script element. ValueError for NaN and infinities,
    which JSON does not have."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_IN_SCRIPT)
