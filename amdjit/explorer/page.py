"""`write_inspection_page` and `write_profile_page`: the explorer's page, one file of HTML."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import combinations
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
    "watching_frame",
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


def write_profile_page(profile: ProfiledLaunches, path: str | PathLike[str]) -> None:
    """Write the page of the kernels that a profile saw, with the counts and cycles of each launch.
    ValueError for a profile without launches, OSError if the file cannot be written."""
    Path(path).write_text(profile_page(profile), encoding="utf-8")


def inspection_page(inspection: KernelFacts, other: KernelFacts | None = None) -> str:
    """Return the page of a kernel as text."""
    inspections = [inspection] if other is None else [inspection, other]
    names = _told_apart([_labels(each) for each in inspections])
    versions = [
        {"name": name or f"{each.kernel}, version {number + 1}", "kernel": number}
        for number, (name, each) in enumerate(zip(names, inspections, strict=True))
    ]
    return _page(inspections, versions, compares=other is not None)


def profile_page(profile: ProfiledLaunches) -> str:
    """Return the page of a profile as text."""
    launches = profile.launches
    if not launches:
        raise ValueError("the profile has no launches: nothing ran on the emulator inside of it")
    kernels: Interned[tuple[bytes, str]] = Interned()
    names = _told_apart([_labels(each.inspection) | _launch_labels(each) for each in launches])
    versions = [
        {
            "name": ": ".join(filter(None, (f"launch {number}", name or launch.kernel))),
            "kernel": kernels.number((launch.code_object, launch.kernel)),
            "launch": launch_data(launch),
        }
        for number, (name, launch) in enumerate(zip(names, launches, strict=True), 1)
    ]
    first = {(each.code_object, each.kernel): each for each in reversed(launches)}
    inspections = [first[key].inspection for key in kernels.values()]
    return _page(inspections, versions, compares=len(launches) > 1)


# What tells versions apart, which is what they are called.

# These are said without their names.
_PLAIN = frozenset({"kernel", "target"})


def _labels(facts: KernelFacts) -> dict[str, str]:
    files = [file for file, _ in facts.lines]
    first = {"kernel": facts.kernel, "target": facts.target, "wave_size": str(facts.wave_size)}
    return first | {"file": files[0] if files else ""} | dict(facts.companion.labels)


def _launch_labels(launch: Launch) -> dict[str, str]:
    grid, block = (
        " \N{MULTIPLICATION SIGN} ".join(map(str, _trimmed(extents)))
        for extents in (launch.grid, launch.block)
    )
    return dict(launch.arguments) | {"grid": grid, "block": block}


def _trimmed(extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return extents without those of one at the end, at least one."""
    return extents if extents[-1] > 1 or len(extents) == 1 else _trimmed(extents[:-1])


def _told_apart(versions: Sequence[Mapping[str, str]]) -> list[str]:
    """Return what each version has that the others do not all have; the time only if there is
    nothing else."""
    names = dict.fromkeys(name for labels in versions for name in labels)
    different = [name for name in names if len({labels.get(name) for labels in versions}) > 1]
    shown = [name for name in different if name != "time"] or different
    return [
        ", ".join(
            labels[name] if name in _PLAIN else f"{name}={labels[name]}"
            for name in shown
            if labels.get(name)
        )
        for labels in versions
    ]


def _page(
    inspections: Sequence[KernelFacts], versions: list[dict[str, Any]], compares: bool
) -> str:
    title = " and ".join(dict.fromkeys(each.kernel for each in inspections))
    whole = [with_sources(each) for each in inspections]
    kernels = [inspection_data(each) for each in whole]
    moved = _moved(whole, kernels) if compares else None
    return document(title, {"kernels": kernels, "versions": versions, "moved": moved})


def _moved(
    inspections: Sequence[KernelFacts], kernels: Sequence[Mapping[str, Any]]
) -> dict[str, list[list[int]]]:
    """Return, for each two kernels, where the lines of the second one were in the first, for lines
    that moved or are new: the number of the file, the line, and both before, if there was one."""
    numbers = [{file["name"]: n for n, file in enumerate(each["files"])} for each in kernels]
    found = {}
    for one, other in combinations(range(len(kernels)), 2):
        aligned = Alignment(inspections[one], inspections[other])
        places = [(place, aligned.before(place)) for place in inspections[other].lines]
        found[f"{one},{other}"] = [
            [numbers[other][now[0]], now[1], *((numbers[one][then[0]], then[1]) if then else ())]
            for now, then in places
            if now != then and (then is None or then[0] in numbers[one])
        ]
    return found


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


def watching_frame(nonce: str) -> str:
    """Return the page of `amdjit explore --watch`, which shows another one again and again. nonce:
    by which a content security policy knows its script and style."""
    return _part("watch.html").replace("{nonce}", nonce)


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
