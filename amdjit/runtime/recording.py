"""Launches written to files, each with all that is needed to repeat it: `amdjit.record`.

A file is a zip archive: `launch.json` (schema "amdjit.record/1"), `code_object`, and `memory/N` for
each piece of memory that the launch may access. Paths in the code object's debug information lose
their folders.
"""

from __future__ import annotations

import functools
import hashlib
import json
import linecache
import platform
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.open_blocks import OpenBlock
from amdjit.checking.profiling import RECORDERS
from amdjit.code_object import CodeObject, MalformedCodeObject
from amdjit.code_object.elf import ElfFile
from amdjit.diagnostics.errors import LaunchError
from amdjit.late_methods import dataclass, field
from amdjit.options import OptionError

__all__ = [
    "Piece",
    "RecordedLaunch",
    "Statement",
    "describe",
    "reachable",
    "record",
    "recorders",
    "without_folders",
    "write_down",
]

SCHEMA = "amdjit.record/1"
_CONTENTS = 1 << 30
_WORD = 8
# What is compressed to decide whether all is: so many pieces of so many bytes.
_SAMPLES, _SAMPLE = 16, 1024
# Sections of strings (DWARF 5, 7.26); before version 5, paths stand in the heads of line programs.
_STRINGS = (".debug_line_str", ".debug_str")
_HEAD = struct.Struct("<IHI")
_VERSION_WITH_STRINGS = 5
# "assert", "raise" or "index"; the file's name; the line.
Statement = tuple[str, str, int]

_NUMBERED = re.compile(r"(\d{4,})-.*\.amdjit$")
# An absolute path, of POSIX or of Windows, up to its final zero.
_PATH = re.compile(rb"(?<=\0)(?:/|[A-Za-z]:[\\/])[^\0]*(?=\0)")


@dataclass(frozen=True, slots=True)
class Piece:
    """Memory that a launch may access.

    address, nbytes: where it was. contents: what it held before the launch, None if that was more
    than the recorder keeps. digest: SHA-256 of contents that are not kept, else "".
    """

    address: int
    nbytes: int
    contents: bytes | None = field(default=None, repr=False)
    digest: str = ""


@dataclass(frozen=True)
class RecordedLaunch:
    """A launch, before it started.

    kernel: the name in the code object. device: the device it was for. kernarg: the explicit
    arguments. statements: those that may stop the kernel, such as `assert`, if the address of a
    record for them follows the arguments; else None. arrays: the array arguments. lines: texts of
    the lines that the code comes from, by file name and number.
    versions: of amdjit, Python and the platform.
    """

    kernel: str
    device: str
    code_object: bytes = field(repr=False)
    shape: LaunchShape
    kernarg: bytes = field(repr=False)
    statements: tuple[Statement, ...] | None
    pieces: tuple[Piece, ...]
    arrays: tuple[ArrayArgument, ...]
    lines: Mapping[str, Mapping[int, str]] = field(repr=False)
    versions: Mapping[str, str]

    @property
    def target(self) -> str:
        """The processor that the code is for."""
        return CodeObject.read(self.code_object).target_name

    def write(self, path: Path) -> None:
        """Write the file. OSError if that is not possible, FileExistsError if it is there."""
        form = {
            "schema": SCHEMA,
            "kernel": self.kernel,
            "target": self.target,
            "device": self.device,
            "grid": self.shape.grid,
            "block": self.shape.block,
            "dynamic_lds": self.shape.dynamic_lds,
            "cooperative": self.shape.cooperative,
            "kernarg": self.kernarg.hex(),
            "statements": self.statements,
            "pieces": [
                {"address": each.address, "nbytes": each.nbytes, "digest": each.digest,
                 "is_stored": each.contents is not None}
                for each in self.pieces
            ],
            "arrays": [each._asdict() for each in self.arrays],
            "lines": self.lines,
            "versions": self.versions,
        }  # fmt: skip
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("launch.json", json.dumps(form, indent=1))
            archive.writestr("code_object", self.code_object)
            for number, piece in enumerate(self.pieces):
                if piece.contents is not None:
                    compression = _compression(piece.contents)
                    archive.writestr(f"memory/{number}", piece.contents, compression, 1)

    @staticmethod
    def read(path: Path) -> RecordedLaunch:
        """Read a file; LaunchError if it is none of these, OSError if it cannot be read."""
        try:
            with zipfile.ZipFile(path) as archive:
                form = json.loads(archive.read("launch.json"))
                if form["schema"] != SCHEMA:
                    raise LaunchError(f"{path} has the form {form['schema']}, not {SCHEMA}")
                code_object = archive.read("code_object")
                pieces = tuple(
                    _read_piece(archive, number, each) for number, each in enumerate(form["pieces"])
                )
            return RecordedLaunch(
                form["kernel"],
                form["device"],
                code_object,
                shape=LaunchShape(
                    tuple(form["grid"]),
                    tuple(form["block"]),
                    form["dynamic_lds"],
                    form["cooperative"],
                ),
                kernarg=bytes.fromhex(form["kernarg"]),
                statements=_read_statements(form["statements"]),
                pieces=pieces,
                arrays=tuple(map(_read_array, form["arrays"])),
                lines={
                    file: {int(number): text for number, text in texts.items()}
                    for file, texts in form["lines"].items()
                },
                versions=form["versions"],
            )
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError, AttributeError) as error:
            raise LaunchError(f"{path} is no recorded launch: {error}") from error


def _compression(contents: bytes) -> int:
    """Return how memory is stored: compressed only if samples of it become much smaller, because
    random data takes a hundred times as long to compress as to write."""
    step = max(len(contents) // _SAMPLES, _SAMPLE)
    sampled = b"".join(contents[at : at + _SAMPLE] for at in range(0, len(contents), step))
    is_worth = len(zlib.compress(sampled, 1)) < len(sampled) // 4
    return zipfile.ZIP_DEFLATED if is_worth else zipfile.ZIP_STORED


def _read_statements(form: list[list[Any]] | None) -> tuple[Statement, ...] | None:
    if form is None:
        return None
    return tuple((str(kind), str(file), int(line)) for kind, file, line in form)


def _read_piece(archive: zipfile.ZipFile, number: int, form: Mapping[str, object]) -> Piece:
    contents = archive.read(f"memory/{number}") if form["is_stored"] else None
    address, nbytes, digest = form["address"], form["nbytes"], form["digest"]
    assert isinstance(address, int)
    assert isinstance(nbytes, int)
    if contents is not None and len(contents) != nbytes:  # zip files have checksums themselves
        raise ValueError(f"piece {number} of its memory is damaged")
    return Piece(address, nbytes, contents, str(digest))


def _read_array(form: dict[str, object]) -> ArrayArgument:
    shape, strides = form.pop("shape"), form.pop("strides")
    return ArrayArgument(**form, shape=tuple(shape), strides=tuple(strides))  # type: ignore[arg-type]


def _digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


class record(OpenBlock):  # noqa: N801
    """Write each launch of a `with` block to a file of a folder, before it starts.

    `amdjit replay FILE` and `amdjit.replay(file)` repeat it on the emulator, under checks. A file
    has the code object, the arguments, and the memory that the arguments point into.

    folder: made if it does not exist; numbers of files go on from those that are there. kernel:
    record only kernels of this name. most: how many files to keep; the oldest launches make room.
    limit: bytes of memory that one file keeps at most; of memory beyond it, only a digest is kept,
    and the launch cannot be repeated. `files` are those that were kept.
    AMDJIT_RECORD=folder records all launches of a process.
    """

    enclosing = RECORDERS

    def __init__(
        self,
        folder: str | Path,
        *,
        kernel: str | None = None,
        most: int = 1000,
        limit: int = _CONTENTS,
    ) -> None:
        super().__init__()
        if most < 1 or limit < 0:
            raise OptionError(f"record: most={most!r}, limit={limit!r}: give 1 and 0 at least")
        self._folder, self._kernel, self._most, self._limit = Path(folder), kernel, most, limit
        self.files: list[Path] = []
        self._next: int | None = None

    def launching(self, kernel: str, *parts: Any, **facts: Any) -> None:
        """Write a launch that is about to start, of which `describe` is given the rest. LaunchError
        if the file cannot be written."""
        if self._kernel not in (None, kernel):
            return
        described = describe(kernel, *parts, **facts, limit=self._limit)
        code_object = described.code_object
        launch = replace(
            described,
            code_object=without_folders(code_object),
            arrays=tuple(each for each in described.arrays if not each.in_lds),
            lines=_lines(code_object),
            versions=_versions(),
        )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self.files.append(self._written(launch))
            while len(self.files) > self._most:
                self.files.pop(0).unlink(missing_ok=True)
        except OSError as error:
            raise LaunchError(f"{self._folder}: {error.strerror}") from error

    def _written(self, launch: RecordedLaunch) -> Path:
        """Write a launch under the next number that no file has, of this process or another."""
        if self._next is None:
            taken = (_NUMBERED.match(file.name) for file in self._folder.iterdir())
            self._next = max((int(each[1]) + 1 for each in taken if each), default=0)
        while True:
            path = self._folder / f"{self._next:04}-{_file_name(launch.kernel)}.amdjit"
            self._next += 1
            try:
                launch.write(path)
            except FileExistsError:
                continue
            return path


def describe(
    kernel: str,
    device: str,
    code_object: bytes,
    shape: LaunchShape,
    kernarg: bytes,
    *,
    statements: Sequence[Statement] | None,
    spans: Iterable[tuple[int, int]],
    arrays: Sequence[ArrayArgument],
    read: Callable[[int, int], bytes],
    limit: int = _CONTENTS,
) -> RecordedLaunch:
    """Return a launch that is about to start, with its code as it is.

    spans: address and size of the memory that it may access. read: returns the bytes at an address.
    limit: bytes of memory to keep.
    """
    return RecordedLaunch(
        kernel,
        device,
        code_object,
        shape,
        kernarg,
        statements=None if statements is None else tuple(statements),
        pieces=tuple(_pieces(spans, read, limit)),
        arrays=tuple(arrays),
        lines={},
        versions={},
    )


def _pieces(
    spans: Iterable[tuple[int, int]], read: Callable[[int, int], bytes], limit: int
) -> Iterator[Piece]:
    """Yield the memory of a launch, with its contents as far as they fit `limit` bytes."""
    room = limit
    for address, nbytes in sorted(set(spans)):
        contents = read(address, nbytes)
        room -= nbytes
        if room >= 0:
            yield Piece(address, nbytes, contents)
        else:
            yield Piece(address, nbytes, None, _digest(contents))


@functools.cache
def _recorder_of_process(folder: Path) -> record:
    return record(folder)


def recorders(folder: Path | None) -> tuple[record, ...]:
    """Return who records the launches made here. folder: that of AMDJIT_RECORD."""
    if folder is None:
        return RECORDERS.get()
    return (*RECORDERS.get(), _recorder_of_process(folder))


def write_down(
    folder: Path | None,
    device: Any,
    function: Any,
    shape: LaunchShape,
    kernarg: bytes,
    arrays: Sequence[ArrayArgument],
) -> None:
    """Write a launch on an emulator whose arguments nobody knows but by their bytes.

    folder: that of AMDJIT_RECORD. device: an `emulator.device.EmulatorDevice`; function: an
    `EmulatedFunction`.
    """

    def read(address: int, nbytes: int) -> bytes:
        contents = bytearray(nbytes)
        device.copy_to_host(memoryview(contents), address)
        return bytes(contents)

    for recorder in recorders(folder):
        recorder.launching(
            function.name,
            device.name,
            function.module.code_object.data,
            shape,
            kernarg,
            statements=None,
            spans=reachable(kernarg, device.allocation_at, read),
            arrays=arrays,
            read=read,
        )


def reachable(
    kernarg: bytes,
    holding: Callable[[int], tuple[int, int] | None],
    read: Callable[[int, int], bytes],
) -> list[tuple[int, int]]:
    """Return address and size of each allocation that a word of the arguments points into, or a
    word of such an allocation. holding: returns the allocation that has an address."""
    found: dict[int, int] = {}
    pending = [bytes(kernarg)]
    while pending:
        contents = pending.pop()
        words = np.frombuffer(contents, "<u8", len(contents) // _WORD)
        for word in np.unique(words).tolist():
            allocation = holding(word)
            if allocation is not None and allocation[0] not in found:
                found[allocation[0]] = allocation[1]
                pending.append(read(*allocation))
    return list(found.items())


def _file_name(kernel: str) -> str:
    return re.sub(r"\W", "_", kernel)[:60]


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "platform": platform.system()}


def without_folders(code_object: bytes) -> bytes:
    """Return a code object whose debug information has no folders: each character of a path before
    the file's name becomes a slash, so that nothing moves."""
    whole = CodeObject.read(code_object).elf
    data = bytearray(code_object)
    for start, end in _with_paths(whole):
        data[start:end] = _PATH.sub(_slashes, b"\0" + data[start:end] + b"\0")[1:-1]
    return bytes(data)


def _with_paths(elf: ElfFile) -> Iterator[tuple[int, int]]:
    """Yield the parts of a file with strings of its debug information."""
    for name in _STRINGS:
        section = elf.section(name)
        if section is not None:
            yield section.offset, section.offset + section.size
    lines = elf.section(".debug_line")
    if lines is None:
        return
    data, at = elf.section_data(lines), 0
    while at + _HEAD.size <= len(data):
        length, version, head = _HEAD.unpack_from(data, at)
        if version < _VERSION_WITH_STRINGS:
            yield lines.offset + at + _HEAD.size, lines.offset + at + _HEAD.size + head
        at += 4 + length


def _slashes(path: re.Match[bytes]) -> bytes:
    text = path[0]
    name = re.split(rb"[\\/]", text)[-1]
    kept = name if b"." in name else b""
    return b"." + b"/" * (len(text) - len(kept) - 1) + kept


def _lines(code_object: bytes) -> dict[str, dict[int, str]]:
    """Return the lines that the instructions of a code object come from, as far as their files are
    there."""
    try:
        table = CodeObject.read(code_object).line_table
    except MalformedCodeObject:
        return {}
    found: dict[str, dict[int, str]] = {}
    for file, line in {(row.file, row.line) for row in table.rows}:
        text = linecache.getline(file, line)
        if text:
            found.setdefault(PurePath(file).name, {})[line] = text.rstrip("\n")
    return found
