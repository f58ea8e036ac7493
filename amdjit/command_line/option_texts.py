"""Compile options on the command line: `NAME=VALUE` as text."""

from __future__ import annotations

from collections.abc import Sequence

from amdjit.options import OptionError

__all__ = ["parse_options"]

_WORDS = {"True": True, "False": False, "None": None}


def parse_options(texts: Sequence[str]) -> dict[str, object]:
    """Return options by name. OptionError for text that is none, and for an option given twice.

    A value is True, False, None, a number, several of them with commas between, or a word.
    """
    options: dict[str, object] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not separator or not name.isidentifier() or not value.strip():
            raise OptionError(f"--option {text}: write NAME=VALUE, such as asserts=False")
        if name in options:
            raise OptionError(f"--option {text}: {name} is given twice")
        options[name] = _fastmath(value) if name == "fastmath" else _value(value)
    return options


def _value(text: str) -> object:
    parts = [_part(part) for part in text.strip().strip("()").split(",") if part.strip()]
    return tuple(parts) if "," in text else parts[0] if parts else text


def _fastmath(text: str) -> object:
    value = _value(text)
    return value if isinstance(value, bool) else frozenset(text.replace(" ", "").split(","))


def _part(text: str) -> object:
    word = text.strip()
    if word in _WORDS:
        return _WORDS[word]
    try:
        return int(word)
    except ValueError:
        return word
