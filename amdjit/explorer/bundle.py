"""Makes one HTML file from the scripts and style sheets in `web`.

The scripts are ES modules that import each other by relative names and export what they declare. A
browser does not load modules from disk, so they are joined into a single script: each module
becomes a function that returns what it exports, after the modules that it imports.

The page's content security policy allows this script and this style sheet by their digests, and
nothing else: no network and no other script, whatever text the page shows.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["document", "in_script", "modules_in_order", "script_of"]

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
    return _PART.sub(lambda match: parts[match["part"]], _read("page.html"))


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
            for imported in _IMPORT.finditer(_read(f"{name}.js")):
                visit(imported["module"], (*importers, name))
            done.append(name)

    visit(entry, ())
    return tuple(done)


def _as_function(name: str) -> str:
    text = _read(f"{name}.js")
    exported = ", ".join(match["name"] for match in _EXPORT.finditer(text))
    body = _EXPORT.sub("", _IMPORT.sub(r"const \g<names> = \g<module>_module;", text))
    return f"const {name}_module = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


@cache
def _style() -> str:
    return "\n" + "\n".join(_read(name) for name in _STYLES)


@cache
def _read(name: str) -> str:
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
