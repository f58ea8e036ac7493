"""Compiled code kept on disk, so that the next process need not compile it again.

Whatever goes wrong with the cache (no room, no permission, a damaged or half-written file, two
processes at once) costs a compilation and nothing else. Entries are bytes with a checksum. The
directory is the user's alone, because the emulator keeps host code there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.late import late
from amdjit.late_methods import dataclass

if TYPE_CHECKING:
    import tempfile
else:
    tempfile = late("tempfile")

__all__ = ["Contents", "DiskCache", "source_version"]

_LOGGER = logging.getLogger("amdjit")

_MAGIC = b"amdjit cache entry 1\n"
_HEADER_SIZE = len(_MAGIC) + hashlib.sha256().digest_size
_ENTRY_SUFFIX = ".bin"
_TEMPORARY_SUFFIX = ".tmp"

# A search of the whole directory takes a second where it is full. There is about one for each of
# these shares of the most bytes that it may hold, written by whichever process; digits of the key
# decide, which needs no state.
_SEARCHED_SHARE = 1 / 32
_CHANCE_DIGITS = 8
# Pruning leaves room, so that the next write need not prune again.
_KEPT_SHARE = 0.75
_ABANDONED_SECONDS = 3600.0


@cache
def source_version(*folders: Path) -> str:
    """Return a text that differs whenever a Python file below the folders does.

    A process computes it once: it runs the code that it has loaded, whatever becomes of the files.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for name, facts in sorted(_source_files(str(folder), "")):
            digest.update(f"{name} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _source_files(folder: str, place: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the Python files below a folder, by their places in it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield f"{place}{entry.name}", entry.stat()
            elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                yield from _source_files(entry.path, f"{place}{entry.name}/")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a cache holds: entries, their bytes, and the files of those that are damaged or cannot
    be read."""

    entries: int
    nbytes: int
    damaged: tuple[Path, ...]

    def __str__(self) -> str:
        if not self.entries:
            return "empty"
        noun = "entry" if self.entries == 1 else "entries"
        damaged = f", {len(self.damaged)} of them damaged" if self.damaged else ""
        return f"{self.entries} {noun}{damaged}, {self.nbytes / 2**20:.1f} MiB"


@dataclass(frozen=True, slots=True)
class DiskCache:
    """A directory of compiled code, by key.

    directory: where the entries are, made when it is first written; None keeps nothing. version:
    tells entries of other versions of the compiler apart. max_bytes: how much the directory may
    hold, roughly.
    """

    directory: Path | None
    version: str
    max_bytes: int = 256 << 20

    def key(self, *parts: str | bytes) -> str:
        """Return the key for everything that the compiled code depends on, in a fixed order."""
        digest = hashlib.sha256()
        for part in (self.version, *parts):
            content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            # Lengths and kinds keep ("ab", "c") and ("a", "bc") apart.
            digest.update(f"{type(part).__name__}:{len(content)}:".encode())
            digest.update(content)
        return digest.hexdigest()

    def get(self, key: str) -> bytes | None:
        """Return the bytes stored under `key`; None if there are none or the entry is damaged."""
        path = self._path(key)
        if path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None
        data = content[_HEADER_SIZE:]
        if content[:_HEADER_SIZE] != _header(key, data):
            _LOGGER.debug("cache entry %s is damaged; removing it", path)
            _remove(path)
            return None
        # The time of last use decides what is pruned first.
        with suppress(OSError):
            os.utime(path)
        return data

    def put(self, key: str, data: bytes) -> None:
        """Store `data` under `key` if that is possible. Readers see an entry whole or not at
        all."""
        path = self._path(key)
        if path is None or len(data) > self.max_bytes:
            return
        try:
            # Of several folders that are made at once, only the last has this mode.
            path.parents[1].mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _write_whole(path, _header(key, data) + data)
        except OSError as error:
            _LOGGER.debug("cache entry %s cannot be written: %s", path, error)
            return
        chance = int(key[-_CHANCE_DIGITS:], 16) / 16**_CHANCE_DIGITS
        if chance * self.max_bytes * _SEARCHED_SHARE < _HEADER_SIZE + len(data):
            self.prune()

    def contents(self) -> Contents:
        """Return what the directory holds. Every entry is read; damaged ones are left where they
        are."""
        entries = list(self._entries())
        damaged = tuple(path for path, _, _ in entries if not _is_whole(path))
        return Contents(len(entries), sum(size for _, _, size in entries), damaged)

    def clear(self) -> Contents:
        """Remove all entries, those of other versions included, and return what is left: what may
        not be removed. Files that are no entries are left alone."""
        for path, _, _ in list(self._entries()):
            _remove(path)
            with suppress(OSError):
                path.parent.rmdir()
        return self.contents()

    def prune(self) -> None:
        """Remove the entries that were least recently used until the directory is small enough."""
        entries = sorted(self._entries(), key=lambda entry: entry[1])
        total = sum(size for _, _, size in entries)
        if total <= self.max_bytes:
            return
        for path, _, size in entries:
            if total <= self.max_bytes * _KEPT_SHARE:
                break
            _remove(path)
            total -= size

    def _path(self, key: str) -> Path | None:
        if not _is_key(key):
            raise ValueError(f"not a key of DiskCache.key: {key!r}")
        return (
            None if self.directory is None else self.directory / key[:2] / f"{key}{_ENTRY_SUFFIX}"
        )

    def _entries(self) -> Iterator[tuple[Path, float, int]]:
        """Yield the path, the time of last use and the size of each entry.

        Files that a dead process left half-written are removed.
        """
        if self.directory is None:
            return
        oldest = time.time() - _ABANDONED_SECONDS
        for folder in self.directory.glob("[0-9a-f][0-9a-f]"):
            for name, status in _files(folder):
                if name.endswith(_ENTRY_SUFFIX) and _is_key(name.removesuffix(_ENTRY_SUFFIX)):
                    yield folder / name, status.st_mtime, status.st_size
                elif name.endswith(_TEMPORARY_SUFFIX) and status.st_mtime < oldest:
                    _remove(folder / name)


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the names and facts of a folder's files, but for those that other processes remove."""
    with suppress(OSError), os.scandir(folder) as files:
        for file in files:
            with suppress(OSError):
                yield file.name, file.stat(follow_symlinks=False)


def _is_key(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _header(key: str, data: bytes) -> bytes:
    # With the key, so that an entry copied to the place of another is noticed.
    return _MAGIC + hashlib.sha256(key.encode() + data).digest()


def _is_whole(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except FileNotFoundError:  # another process has pruned it
        return True
    except OSError:
        return False
    return content[:_HEADER_SIZE] == _header(path.stem, content[_HEADER_SIZE:])


def _write_whole(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(suffix=_TEMPORARY_SUFFIX, dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError:
        _remove(temporary)
        raise


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
