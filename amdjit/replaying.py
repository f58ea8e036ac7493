"""Recorded launches, repeated on the emulator: `amdjit.replay`, `amdjit replay`."""

from __future__ import annotations

import dataclasses
import linecache
import struct
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.reports import HEAD_BYTES, Word, fresh_head
from amdjit.checking.array_places import ArrayArgument
from amdjit.checking.settings import Request
from amdjit.devices import find_device
from amdjit.diagnostics import KernelFault, LaunchError
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.options import SANITIZER_CHECKS, checked_sanitize
from amdjit.profiling.profile import profile
from amdjit.runtime import sanitized
from amdjit.runtime.recording import RecordedLaunch

__all__ = ["Replay", "ReplayMemory", "element_type", "replay"]

_MOST_REPORTS = 20
_PRINTED = 1 << 20


@dataclass(frozen=True)
class Replay:
    """What a recorded launch does on the emulator.

    launch: as it was recorded. reports: what the checks find. fault: what stopped the launch, None
    if it came to its end. results: what the arrays held afterwards, by name. profile: with the
    counts of the launch, if they were asked for.
    """

    launch: RecordedLaunch
    reports: tuple[SanitizerReport, ...]
    fault: KernelFault | None
    results: dict[str, NDArray[Any]] = field(repr=False)
    profile: profile | None = None

    def __str__(self) -> str:
        launch = self.launch
        size = f"grid {launch.shape.grid}, block {launch.shape.block}"
        rows = [f"{launch.kernel} for {launch.target}, {size}, recorded on {launch.device}"]
        rows += [each.render() for each in self.reports]
        if self.fault is not None:
            rows.append(str(self.fault))
        if self.profile is not None:
            rows.append(str(self.profile))
        return "\n".join(rows if len(rows) > 1 else [*rows, "no report"])


def replay(
    file: str | Path,
    *,
    check: Sequence[str] = SANITIZER_CHECKS,
    count: bool = False,
    time_limit: float | None = None,
) -> Replay:
    """Repeat a launch that `amdjit.record` wrote, on the emulator of its processor.

    check: the checks to make, none of them if it is empty. count: count what the launch does
    instead, which excludes checks. time_limit: seconds that it may take, as
    AMDJIT_EMULATOR_TIME_LIMIT. Addresses in the arguments and in memory are replaced by those of
    the emulator wherever they point into recorded memory. LaunchError if the file is none of these,
    lacks the contents of memory, or is for a processor that is not emulated.
    """
    checks = () if count else checked_sanitize(tuple(check), "check=")
    launch = RecordedLaunch.read(Path(file))
    missing = [each for each in launch.pieces if each.contents is None]
    if missing:
        raise LaunchError(
            f"{file} has no contents of {len(missing)} pieces of memory, "
            f"{sum(each.nbytes for each in missing):,} bytes in all: record it with a higher limit="
        )
    device: Any = find_device(f"emulator:{launch.target}")
    _show_lines(launch)
    with ReplayMemory(device, launch) as memory:
        return _run(device, launch, memory, checks, count)


def _run(
    device: Any, launch: RecordedLaunch, memory: ReplayMemory, checks: tuple[str, ...], count: bool
) -> Replay:
    function = device.load(launch.code_object).function(launch.kernel)
    call = function, launch.shape, memory.kernarg()
    reports: tuple[SanitizerReport, ...] = ()
    fault: KernelFault | None = None
    counted = profile() if count else None
    if checks:
        request = Request(frozenset(checks), _MOST_REPORTS, memory.arrays(), False)
        reports, fault = device.launch_sanitized(*call, request)
    else:
        try:
            with counted or nullcontext():
                device.launch(*call)
        except KernelFault as error:
            fault = error
    fault = fault or memory.fault()
    if fault is not None:
        sanitized.locate(fault, memory.arrays())
    named = tuple(dataclasses.replace(each, file=_name(each.file)) for each in reports)
    return Replay(launch, named, fault, memory.results(), counted)


def _name(file: str | None) -> str | None:
    return None if file is None else PurePath(file).name


def _show_lines(launch: RecordedLaunch) -> None:
    """Let reports show the recorded lines, as their files need not be here."""
    for file, texts in launch.lines.items():
        lines = [f"{texts.get(number, '')}\n" for number in range(1, max(texts, default=0) + 1)]
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)


_FLOATS_OF_C = {"float": 4, "double": 8, "_Float16": 2}
_INTEGERS_OF_C = {"char": 1, "short": 2, "int": 4, "long": 8}


def element_type(array: ArrayArgument) -> np.dtype[Any]:
    """Return the type of an array's elements, of which NumPy or C has the name; bytes if neither
    has."""
    *signs, name = array.dtype.split() or [""]
    if _FLOATS_OF_C.get(name) == array.itemsize:
        return np.dtype(f"f{array.itemsize}")
    if _INTEGERS_OF_C.get(name) == array.itemsize:
        return np.dtype(f"{'u' if 'unsigned' in signs else 'i'}{array.itemsize}")
    try:
        found = np.dtype(array.dtype)
    except TypeError:
        return np.dtype(f"V{array.itemsize}")
    return found if found.itemsize == array.itemsize else np.dtype(f"V{array.itemsize}")


class ReplayMemory:
    """The memory of a recorded launch, on a device, while a `with` block lasts."""

    def __init__(self, device: Any, launch: RecordedLaunch) -> None:
        self._device, self._launch = device, launch
        self._places: list[int] = []
        """Where each piece lies now."""
        self._report = 0

    def __enter__(self) -> ReplayMemory:
        for piece in self._launch.pieces:
            self._places.append(self._device.allocate(piece.nbytes))
        for piece, address in zip(self._launch.pieces, self._places, strict=True):
            assert piece.contents is not None
            contents = self._moved(piece.contents)
            self._device.copy_to_device(address, memoryview(contents))
        if self._launch.statements is not None:
            self._report = self._device.allocate(HEAD_BYTES + _PRINTED)
            self._device.copy_to_device(self._report, memoryview(fresh_head(_PRINTED)))
        return self

    def __exit__(self, *exception: object) -> None:
        for address in (*self._places, *filter(None, [self._report])):
            self._device.free(address)

    def kernarg(self) -> bytearray:
        """Return the arguments, with the addresses that memory has now."""
        found = self._moved(self._launch.kernarg)
        if self._launch.statements is not None:
            found += bytes(-len(found) % 8) + self._report.to_bytes(8, "little")
        return found

    def fault(self) -> KernelFault | None:
        """Return what an `assert` or another statement of the kernel reported."""
        if self._launch.statements is None:
            return None
        head = bytearray(HEAD_BYTES)
        self._device.copy_to_host(memoryview(head), self._report)
        if not struct.unpack_from("<I", head, 4 * Word.CLAIMED)[0]:
            return None
        number, *place = struct.unpack_from("<7I", head, 4 * Word.SITE)
        kind, file, line = self._launch.statements[number]
        block, thread = (place[0], place[1], place[2]), (place[3], place[4], place[5])
        what = "an index outside of its array" if kind == "index" else f"`{kind}`"
        kernel = self._launch.kernel
        return KernelFault(
            kind,
            f"{kernel}: {what} (block {block}, thread {thread})\n  at {file}:{line}\n"
            f"  {linecache.getline(file, line).strip()}",
            kernel=kernel,
            source_file=file,
            source_line=line,
            block=block,
            thread=thread,
        )

    def arrays(self) -> tuple[ArrayArgument, ...]:
        """Return the arrays where they are now."""
        return tuple(
            each._replace(address=self._address(each.address)) for each in self._launch.arrays
        )

    def results(self) -> dict[str, NDArray[Any]]:
        """Return what the arrays hold now."""
        return {each.name: self._contents(each) for each in self.arrays() if not each.in_lds}

    def _contents(self, array: ArrayArgument) -> NDArray[Any]:
        low, high = array.span
        host = bytearray(high - low)
        self._device.copy_to_host(memoryview(host), low)
        offset, dtype = array.address - low, element_type(array)
        found: NDArray[Any] = np.ndarray(array.shape, dtype, host, offset, array.strides)
        return found

    def _address(self, address: int) -> int:
        """Return where something is now. What ends one piece and begins the next is the next's."""
        for piece, place in reversed(list(zip(self._launch.pieces, self._places, strict=True))):
            if piece.address <= address <= piece.address + piece.nbytes:
                return place + address - piece.address
        return address

    def _moved(self, contents: bytes) -> bytearray:
        """Return bytes in which each word that is an address in a piece is where that is now. What
        ends one piece and begins the next is the next's."""
        found = bytearray(contents)
        words = np.frombuffer(found, "<u8", len(found) // 8)
        before = words.copy()
        for piece, place in zip(self._launch.pieces, self._places, strict=True):
            inside = (before >= piece.address) & (before <= piece.address + piece.nbytes)
            words[inside] = before[inside] - np.uint64(piece.address) + np.uint64(place)
        return found
