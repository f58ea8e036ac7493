"""The texts of source files as they were when functions of them were decorated.

Kernels are compiled from their text, long after Python compiled it, and editors write to files
while programs run. So decorators call `remember`, which keeps the file's bytes: one read for each
version of a file, one `stat` for each function. `texts_of` lists the texts that a function may come
from, the likeliest first; which of them it is, `amdjit.frontend.source.reading` decides by the
function's code.
"""

from __future__ import annotations

import functools
import inspect
import io
import linecache
import os
import re
import stat
import sys
import textwrap
import time
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from tokenize import detect_encoding
from typing import Any

from amdjit.forking import Lock
from amdjit.late_methods import dataclass

__all__ = ["Candidate", "SourceFile", "adopt", "keep_compiled_texts", "remember", "texts_of"]

_MOST_VERSIONS = 16
_STARTED = time.time_ns()


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file, or a cell of a notebook, as it was at one moment.

    stamp: (modified in ns, size, inode) of a file, None for a text that only Python knows.
    """

    name: str
    content: bytes | tuple[str, ...]
    stamp: tuple[int, int, int] | None

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines with their ends; none if the file is not in the encoding that it declares."""
        if isinstance(self.content, tuple):
            return self.content
        try:
            encoding, _ = detect_encoding(io.BytesIO(self.content).readline)
            lines = io.TextIOWrapper(io.BytesIO(self.content), encoding).readlines()
        except (SyntaxError, UnicodeDecodeError, LookupError):
            return ()
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that a function may have been compiled from.

    is_early: whether the file is known not to have changed since Python compiled the function.
    is_guess: whether it is a string of the program, which need not have to do with the function.
    """

    text: SourceFile
    is_early: bool
    is_guess: bool = False


class _SourceFiles:
    """The versions of files that functions were decorated in."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._versions: dict[str, list[SourceFile]] = {}
        self._remembered: weakref.WeakKeyDictionary[
            types.FunctionType, tuple[types.CodeType, Candidate]
        ] = weakref.WeakKeyDictionary()
        self._guesses: weakref.WeakKeyDictionary[types.FunctionType, list[Candidate]] = (
            weakref.WeakKeyDictionary()
        )

    def remember(self, function: types.FunctionType) -> None:
        code = function.__code__
        if self._remembered.get(function, (None, None))[0] is code:
            return
        text = self._now(code.co_filename, function.__globals__)
        if text is not None:
            # What stands in a module is decorated while that is run, right after it was read.
            is_early = "<locals>" not in function.__qualname__ or _is_early(text, function)
            self._remembered[function] = code, Candidate(text, is_early)
        elif function not in self._guesses:
            self._guesses[function] = _guesses(function)
        for name in code.co_names:
            helper = function.__globals__.get(name)
            if type(helper) is types.FunctionType and not _is_own(helper):
                self._remember_helper(helper)

    def _remember_helper(self, helper: types.FunctionType) -> None:
        """Keep the text of a function that is not decorated itself. It was imported before."""
        if helper in self._remembered:
            return
        text = self._now(helper.__code__.co_filename, helper.__globals__)
        if text is not None:
            is_early = _is_compiled_text(text, helper) is not False
            self._remembered[helper] = helper.__code__, Candidate(text, is_early)
        elif helper not in self._guesses:
            self._guesses[helper] = _guesses(helper)

    def adopt(self, function: types.FunctionType, text: SourceFile, is_early: bool) -> None:
        self._remembered[function] = function.__code__, Candidate(text, is_early)

    def texts_of(self, function: types.FunctionType) -> list[Candidate]:
        code = function.__code__
        remembered, own = self._remembered.get(function, (None, None))
        now = self._now(code.co_filename, function.__globals__)
        with self._lock:
            texts = list(self._versions.get(code.co_filename, ()))
        if now is not None and now not in texts:
            texts.append(now)
        found = [own] if own is not None and remembered is code else []
        found += [Candidate(text, _is_early(text, function)) for text in texts]
        if found and code.co_filename != "<string>":  # of `python -c`, or of its `exec`
            # Texts of `exec(compile(text, __file__, "exec"))` have the name of a file, too.
            given = texts_compiled_as(code.co_filename, f"def {code.co_name}")
            return [*found, *(Candidate(text, False, True) for text in given)]
        return [*found, *self._guesses.get(function, ()), *_guesses(function)]

    def _now(self, file: str, scope: dict[str, Any]) -> SourceFile | None:
        """Return the present text of a file, read again only if the file has changed."""
        try:
            status = Path(file).stat()
        except (OSError, ValueError):  # a cell, a file in an archive, a file that was removed
            lines = tuple(linecache.getlines(file, scope)) or command_lines(file, scope)
            return SourceFile(file, lines, None) if lines else None
        stamp = status.st_mtime_ns, status.st_size, status.st_ino
        with self._lock:
            versions = self._versions.setdefault(file, [])
            for version in versions:
                if version.stamp == stamp:
                    return version
            try:
                content = Path(file).read_bytes()
            except OSError:
                return None
            for version in versions:
                if version.content == content:  # only touched
                    return version
            versions.append(SourceFile(file, content, stamp))
            del versions[:-_MOST_VERSIONS]
            return versions[-1]


def _guesses(function: types.FunctionType) -> list[Candidate]:
    file = function.__code__.co_filename
    texts = texts_in_memory(function)
    guesses = [Candidate(SourceFile(file, lines, None), False, True) for lines in texts]
    try:
        # From Python 3.13 on it finds what was typed at the prompt.
        known, _ = inspect.findsource(function)
    except (OSError, TypeError, SyntaxError):
        return guesses
    return [Candidate(SourceFile(file, tuple(known), None), True), *guesses]


def _is_early(text: SourceFile, function: types.FunctionType) -> bool:
    return (
        text.stamp is None or text.stamp[0] < _STARTED or _is_compiled_text(text, function) is True
    )


def _is_compiled_text(text: SourceFile, function: types.FunctionType) -> bool | None:
    """Whether Python's own record of what it compiled, a `.pyc` file, names this version; None if
    there is none, or it is as young as the file."""
    cached = getattr(function.__globals__.get("__spec__"), "cached", None)
    if not cached or text.stamp is None:
        return None
    try:
        with Path(cached).open("rb") as file:
            header, written = file.read(16), os.fstat(file.fileno()).st_mtime_ns
    except OSError:
        return None
    # PEP 552: magic number, flags (0: by time), time of the source in seconds, its size.
    flags, seconds, size = (int.from_bytes(header[at : at + 4], "little") for at in (4, 8, 12))
    if flags != 0 or written == text.stamp[0]:
        return None
    names_it = (seconds, size) == (
        text.stamp[0] // 10**9 & 0xFFFFFFFF,
        text.stamp[1] & 0xFFFFFFFF,
    )
    return names_it and written > text.stamp[0]


def _is_own(function: types.FunctionType) -> bool:
    return (function.__module__ or "").startswith("amdjit.")


_FILES = _SourceFiles()


def remember(function: object) -> None:
    """Keep the text that a function was just compiled from."""
    if isinstance(function, types.FunctionType) and not _is_own(function):
        _FILES.remember(function)


def texts_of(function: types.FunctionType) -> list[Candidate]:
    """Return the texts that a function may have been compiled from, the likeliest first."""
    return _FILES.texts_of(function)


def adopt(function: types.FunctionType, lines: tuple[str, ...], is_early: bool) -> None:
    """Take a text, which another process knew, as that of a function."""
    _FILES.adopt(function, SourceFile(function.__code__.co_filename, lines, None), is_early)


# Texts that a function without a file may have been compiled from: what was typed at Python's
# prompt, piped into it, or is a string of the program, as for `exec(text)`.
#
# They are guesses: `amdjit.frontend.source.reading` compiles them, and takes none whose code
# differs from the function's.

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
    texts = (
        *(text for name, text in reversed(_COMPILED) if name[:1] == "<" and word in text),
        *_typed_at_the_prompt(code, word),
        *_strings(function, word),
    )
    whole = (text for text in texts if "\0" not in text)  # which no Python text has
    unlike = dict.fromkeys(tuple(text.splitlines(keepends=True)) for text in whole)
    return list(islice(unlike, _MOST_TEXTS))


# The texts that Python has compiled for `exec` and `eval` since `keep_compiled_texts`, behind their
# names, the last one last: those of `exec` in functions that have returned are nowhere else.
_COMPILED: deque[tuple[str, str]] = deque(maxlen=4096)


def texts_compiled_as(file: str, word: str) -> list[SourceFile]:
    """Return the texts with a word that Python has compiled under the name of a file, the last one
    first."""
    texts = (text for name, text in reversed(_COMPILED) if name == file and word in text)
    return [SourceFile(file, tuple(text.splitlines(keepends=True)), None) for text in texts]


@functools.cache  # hooks stay for good
def keep_compiled_texts() -> None:
    """From now on, keep the texts that Python compiles for `exec` and `eval`."""

    def keep(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "compile" and isinstance(arguments[1], str):
            try:
                text, caller = arguments[0], sys._getframe(1).f_code.co_filename
            except ValueError:  # Python itself compiles the main program
                return
            if isinstance(text, bytes):
                text = text.decode(errors="replace")
            if isinstance(text, str) and not caller.startswith("<frozen "):  # imports modules
                _COMPILED.append((arguments[1], text))

    sys.addaudithook(keep)


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
