"""Records of launches whose kernels report to the host: allocated before, read and shown after the
launch."""

from __future__ import annotations

import sys
from struct import unpack_from
from typing import Any

from amdjit.abi.launch_shape import Extent
from amdjit.abi.reports import (
    HEAD_BYTES,
    LINE_HEAD_WORDS,
    CallSite,
    FaultSite,
    ReportTable,
    Word,
    fresh_head,
)
from amdjit.checking.array_places import Place, line_note, negative_index_note
from amdjit.diagnostics.errors import KernelFault
from amdjit.diagnostics.notebooks import shown_file
from amdjit.late_methods import dataclass
from amdjit.runtime.device import Device
from amdjit.runtime.memory import Memory, temporary

_EXCEPTIONS: dict[str, type[Exception]] = {"assert": AssertionError, "index": IndexError}


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """The record of one launch in device memory."""

    kernel: str
    table: ReportTable
    device: Device
    memory: Memory
    block: Extent
    wave_size: int
    is_kept: bool = False
    """Whether later launches may reuse the memory once this record has been reported."""

    @property
    def argument(self) -> bytes:
        """The bytes that are appended to the kernel's own arguments."""
        return self.memory.address.to_bytes(8, "little")

    def tell(self, stream: Any = None) -> None:
        """Print the lines of a launch that has ended to sys.stdout; raise its fault as
        KernelFault."""
        if not (self.table.faults or self.table.prints):
            return
        head = self._read(0, HEAD_BYTES, stream)
        cursor, _, end = unpack_from("<QQQ", head, 4 * Word.CURSOR)
        lines = self._read(HEAD_BYTES, min(cursor, end), stream) if cursor else bytearray()
        if self.is_kept:
            self._give_back(head, stream)
        if cursor:
            sys.stdout.write(
                _printed(self, lines) + _lost(self, unpack_from("<I", head, 4 * Word.LOST)[0])
            )
        if unpack_from("<I", head)[0]:
            raise _fault(self, head)

    def _give_back(self, head: bytearray, stream: Any) -> None:
        """Reset the record for reuse by a later launch: most launches report nothing, so that it is
        unchanged."""
        fresh = fresh_head(self.memory.nbytes - HEAD_BYTES)
        if head != fresh:
            self.device.copy_to_device(self.memory.address, memoryview(fresh), stream)
        self.device.idle_records.setdefault(self.memory.nbytes, []).append(self.memory)

    def _read(self, offset: int, nbytes: int, stream: Any) -> bytearray:
        data = bytearray(nbytes)
        self.device.copy_to_host(memoryview(data), self.memory.address + offset, stream)
        return data


def make_record(
    kernel: str,
    table: ReportTable,
    device: Device,
    block: Extent,
    wave_size: int,
    print_buffer: int,
    stream: Any,
    is_kept: bool = False,
) -> LaunchRecord:
    """Make the record of a launch. print_buffer: bytes for printed lines, if the kernel prints.

    is_kept: whether it may be reused, before and after. Then a launch that reports nothing needs no
    allocation and no copy before it starts.
    """
    capacity = print_buffer if table.prints else 0
    nbytes = HEAD_BYTES + capacity
    memory = _idle(device, nbytes) if is_kept else None
    if memory is None:
        memory = Memory(device, nbytes) if is_kept else temporary(device, nbytes, stream)
        device.copy_to_device(memory.address, memoryview(fresh_head(capacity)), stream)
    return LaunchRecord(
        kernel,
        table,
        device=device,
        memory=memory,
        block=block,
        wave_size=wave_size,
        is_kept=is_kept,
    )


def _idle(device: Device, nbytes: int) -> Memory | None:
    """Return the unused record of an earlier launch, None if there is none."""
    try:
        found: Memory = device.idle_records[nbytes].pop()
    except (KeyError, IndexError):
        return None
    return found


def with_record(kernarg: bytearray, record: LaunchRecord) -> bytearray:
    """Return a kernel's arguments followed by the record's address at the next multiple of 8
    bytes."""
    return kernarg + bytes(-len(kernarg) % 8) + record.argument


def _printed(record: LaunchRecord, lines: bytearray) -> str:
    """Return the lines by block and wave, for each wave in the order in which it printed them."""
    found: list[tuple[tuple[int, int, int, int], str]] = []
    at = 0
    while at < len(lines):
        number, x, y, z, packed = unpack_from(f"<{LINE_HEAD_WORDS}I", lines, at)
        text = record.table.prints[number]
        words = unpack_from(f"<{text.words}I", lines, at + 4 * LINE_HEAD_WORDS)
        thread = packed & 1023, packed >> 10 & 1023, packed >> 20
        item = thread[0] + record.block[0] * (thread[1] + record.block[1] * thread[2])
        found.append(((z, y, x, item // record.wave_size), text.fill(words)))
        at += 4 * (LINE_HEAD_WORDS + text.words)
    found.sort(key=lambda line: line[0])
    return "".join(text for _, text in found)


def _lost(record: LaunchRecord, lost: int) -> str:
    if not lost:
        return ""
    capacity = record.memory.nbytes - HEAD_BYTES
    return (
        f"... and {lost} more from {record.kernel}, for which {capacity} bytes had no room: "
        f"@amdjit.kernel(print_buffer={2 * capacity}) makes more\n"
    )


def _fault(record: LaunchRecord, head: bytearray) -> KernelFault:
    number, *place = unpack_from("<7I", head, 4 * Word.SITE)
    site = record.table.faults[number]
    block, thread = (place[0], place[1], place[2]), (place[3], place[4], place[5])
    words = unpack_from(f"<{site.text.words}I", head, 4 * Word.VALUES)
    calls = record.table.calls_of(unpack_from("<Q", head, 4 * Word.CALLS)[0])
    frames: list[FaultSite | CallSite] = [site, *calls]
    while frames[0].is_library and len(frames) > 1:
        del frames[0]
    source = frames[0]
    detail = site.text.fill(words)
    item = thread[0] + record.block[0] * (thread[1] + record.block[1] * thread[2])
    index, shape = _index(site, words)
    text = (
        f"{record.kernel}: {_headline(site, detail)} (block {block}, thread {thread})\n  at "
        f"{shown_file(source.file)}:{source.line}"
    )
    if not site.is_wrapped:
        text += negative_index_note(index, shape)
    if site.kind == "index" and index is not None and shape is not None:
        text += line_note(source.file, source.line, Place(site.array, index, shape))
    for call in frames[1:]:
        assert isinstance(call, CallSite)
        text += f"\n  called from {call.caller} at {shown_file(call.file)}:{call.line}: {call.text}"
    fault = KernelFault(
        site.kind,
        text,
        kernel=record.kernel,
        source_file=source.file,
        source_line=source.line,
        block=block,
        thread=thread,
        lane=item % record.wave_size,
        detail=detail,
        array=site.array or None,
        index=index,
        shape=shape,
    )
    return _as_exception(fault, site, words)


def _as_exception(fault: KernelFault, site: FaultSite, words: tuple[int, ...]) -> KernelFault:
    """Return a fault as the exception that the kernel raised."""
    if site.raised is not None:
        return fault.raised(site.raised.kind, *site.raised.arguments(words))
    kind = _EXCEPTIONS.get(site.kind)
    return fault if kind is None else fault.raised(kind, [fault.detail] if fault.detail else [], {})


def _headline(site: FaultSite, detail: str) -> str:
    kind = _EXCEPTIONS.get(site.kind)
    parts = [kind.__name__ if kind is not None else "", detail]
    return ": ".join(part for part in parts if part)


def _index(
    site: FaultSite, words: tuple[int, ...]
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    if site.kind != "index":
        return None, None
    values = site.text.values(words)
    return values[: site.indices], values[site.indices :]
