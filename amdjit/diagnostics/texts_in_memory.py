"""Texts that a function without a file may have been compiled from: what was typed at Python's
prompt, piped into it, or is a string of the program, as for `exec(text)`.

They are guesses: `amdjit.frontend.source.same_code` compiles them, and takes none whose code
differs from the function's.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

__all__ = ["command_lines", "texts_in_memory"]

# Programs that keep more strings than these beside a function without a file have their kernels
# refused, with the remedy.
_MOST_TEXTS = 64
_MOST_CODES = 4096
_MOST_ITEMS = 1024
_LONGEST_ENTRY = 1024  # lines of the prompt that one function may have


def texts_in_memory(function: types.FunctionType) -> list[tuple[str, ...]]:
    """Return the lines of each text that may define a function, the likeliest first."""
    code = function.__code__
    word = "lambda" if code.co_name == "<lambda>" else f"def {code.co_name}"
    texts = (*_typed_at_the_prompt(code, word), *_strings(function, word))
    whole = (text for text in texts if "\0" not in text)  # which no Python text has
    unlike = dict.fromkeys(tuple(text.splitlines(keepends=True)) for text in whole)
    return list(islice(unlike, _MOST_TEXTS))


# Python's options that take the next argument as their value, and those that may stand before the
# `c` of `-c` in one argument.
_VALUED = {"-W", "-X", "--check-hash-based-pycs"}
_COMMAND = re.compile(r"-[bBdEiIOPqsSuvx]*c(.*)", re.DOTALL)


def command_lines(file: str, scope: dict[str, Any]) -> tuple[str, ...]:
    """Return the text of `python -c text` for its own functions, which linecache knows only from
    Python 3.13 on; nothing for other files."""
    if file != "<string>" or scope.get("__name__") != "__main__":
        return ()
    arguments = iter(sys.orig_argv[1:])
    for argument in arguments:
        command = _COMMAND.fullmatch(argument)
        if command is not None:
            text = command[1] or next(arguments, "")
            return tuple(text.splitlines(keepends=True))
        if argument in _VALUED:
            next(arguments, None)
        elif not argument.startswith("-"):
            break
    return ()


def _typed_at_the_prompt(code: types.CodeType, word: str) -> Iterator[str]:
    """Yield what the prompt has read, from the line on where the statement that defines the
    function may begin; its file's lines are counted from there."""
    lines = _history()
    before = code.co_firstlineno - 1
    for position in range(len(lines) - 1, -1, -1):
        if word in lines[position]:
            first = position
            while first and lines[first - 1].lstrip().startswith("@"):
                first -= 1
            if first >= before:
                entry = lines[first - before : first - before + _LONGEST_ENTRY]
                yield "".join(f"{line}\n" for line in entry)
    if code.co_filename == "<stdin>":
        yield _standard_input()


def _history() -> list[str]:
    """Return the lines that were typed, the last one last. Programs without a prompt have none."""
    readline: Any = sys.modules.get("readline")
    if readline is None:
        return []
    count = readline.get_current_history_length()
    items = (readline.get_history_item(number + 1) for number in range(count))
    return [line for item in items if item for line in item.splitlines()]


def _standard_input() -> str:
    """Return the whole text of `python < file`."""
    try:
        status = os.fstat(0)
        text = os.pread(0, status.st_size, 0) if stat.S_ISREG(status.st_mode) else b""
    except (OSError, AttributeError):  # closed, or a system without `pread`
        return ""
    return text.decode(errors="replace")


def _strings(function: types.FunctionType, word: str) -> Iterator[str]:
    """Yield the strings with a word that the callers have as variables and constants, as they are
    and as programs usually change them before `exec`."""
    for text in _strings_of(function):
        if word in text:
            yield text
            dedented = textwrap.dedent(text)
            yield from (dedented, dedented.lstrip("\n"), text.lstrip("\n"), text.strip())


def _strings_of(function: types.FunctionType) -> Iterator[str]:
    yield from _strings_among(function.__globals__.values())
    scopes: dict[int, dict[str, Any]] = {}
    codes: dict[types.CodeType, None] = {}
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        scope = frame.f_globals
        if not str(scope.get("__name__")).startswith("amdjit."):
            codes[frame.f_code] = None
            scopes[id(scope)] = scope
            yield from _strings_among(frame.f_locals.values())
        frame = frame.f_back
    for scope in scopes.values():
        yield from _strings_among(scope.values())
        codes.update(dict.fromkeys(_codes_of(scope)))
    for code in islice(_with_inner(codes), _MOST_CODES):
        yield from (constant for constant in code.co_consts if isinstance(constant, str))


def _strings_among(values: Iterable[object]) -> Iterator[str]:
    """Yield strings, also those within containers."""
    for value in list(values):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from (v for v in islice(list(value.values()), _MOST_ITEMS) if isinstance(v, str))
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value[:_MOST_ITEMS] if isinstance(item, str))


def _codes_of(scope: dict[str, Any]) -> Iterator[types.CodeType]:
    """Yield the code of the functions of a module and of its classes."""
    name = scope.get("__name__")
    for value in list(scope.values()):
        if isinstance(value, types.FunctionType):
            yield value.__code__
        elif isinstance(value, type) and value.__module__ == name:
            members = list(vars(value).values())
            yield from (each.__code__ for each in members if isinstance(each, types.FunctionType))


def _with_inner(codes: Iterable[types.CodeType]) -> Iterator[types.CodeType]:
    pending = list(codes)
    seen = set(pending)
    while pending:
        code = pending.pop()
        yield code
        inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
        pending += [each for each in inner if each not in seen]
        seen.update(inner)
