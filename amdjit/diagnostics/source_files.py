"""The texts of source files as they were when functions of them were decorated.

Kernels are compiled from their text, long after Python compiled it, and editors write to files
while programs run. So decorators call `remember`, which keeps the file's bytes: one read for each
version of a file, one `stat` for each function. `texts_of` lists the texts that a function may come
from, the likeliest first; which of them it is, `amdjit.frontend.source.same_code` decides by the
function's code.
"""

from __future__ import annotations

import inspect
import io
import linecache
import os
import time
import types
import weakref
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tokenize import detect_encoding
from typing import Any

from amdjit.diagnostics.texts_in_memory import command_lines, texts_in_memory
from amdjit.forking import Lock

__all__ = ["Candidate", "SourceFile", "adopt", "remember", "texts_of"]

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
        return found or [*self._guesses.get(function, ()), *_guesses(function)]

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
