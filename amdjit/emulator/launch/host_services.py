"""The host's services for running HIP kernels: printf, assert, and memory for malloc.

ROCm's device library (`ockl`, hostcall) takes a packet from a stack of free ones, in which each
lane has eight words, puts it on the stack of those that are ready, interrupts the host, and waits
until the host has cleared a flag. A text comes in several packets: the first word of a lane says
whether it begins or ends there, how many words of it follow, and its number. With
`-mprintf-kind=buffered`, printf puts whole texts into one buffer, which is read after the launch.

`HostSide` is what launches of a device share; `HostCalls` are those of one launch at a time, which
runs on one host thread, so that texts appear in the same order each time.
"""

from __future__ import annotations

import re
import struct
import sys
import weakref
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.c_format import Words, format_c
from amdjit.code_object import Kernel
from amdjit.emulator.launch.kernarg import Hidden
from amdjit.emulator.layout import Context
from amdjit.emulator.memory import DeviceMemory
from amdjit.emulator.scheduling.host_calls import Answer, HostCallback
from amdjit.forking import Lock
from amdjit.late_methods import dataclass, field

# Gets text: 0 for standard output or 1 for standard error, and its bytes.
Write = Callable[[int, bytes], None]

# The services of packets (ROCm-Device-Libs, ockl/inc/hostcall_impl.h and devhcmessages).
_CALL_FUNCTION, _PRINT, _MEMORY, _SANITIZER = 1, 2, 3, 4
_REFUSED = {
    _CALL_FUNCTION: "the kernel calls a function of the host (__ockl_call_host_function)",
    _SANITIZER: "the kernel reports what AddressSanitizer has found, whose runtime is not here",
}
# The buffer: the addresses of the packets' heads and of their words, the signal, the stacks of free
# and of ready packets, and the mask of a packet's number. Older libraries take the last dword for
# the number of bits, of which shifts use six: all ones there, which no number of a packet exceeds.
_BUFFER = struct.Struct("<6Q")
_READY = 32
_PACKETS = 64
_MASK = _PACKETS - 1
_TAG = 1 << 63
# A packet's head: the next packet, the mask of active lanes, the service, and a flag until it is
# done.
_HEAD = struct.Struct("<QQII")
_LANES, _LANE_WORDS = 64, 8
_WORDS_BYTES = _LANES * _LANE_WORDS * 8
# A signal (HSA, amd_signal_t): its kind, its value, the mailbox of its event, the event's number.
_SIGNAL = struct.Struct("<QQQI36x")
_MAILBOX_BYTES = 64
_FIRST_HEAD = _BUFFER.size + 16
_FIRST_WORDS = _FIRST_HEAD + _PACKETS * _HEAD.size
_SIGNAL_AT = _FIRST_WORDS + _PACKETS * _WORDS_BYTES
_MAILBOX_AT = _SIGNAL_AT + _SIGNAL.size
_CALL_BYTES = _MAILBOX_AT + _MAILBOX_BYTES
# The first word of a text's part.
_BEGINS, _ENDS = 1, 2
_COUNT_SHIFT, _COUNT_MASK, _NUMBER_SHIFT = 5, 7, 8

# The head of the buffer of texts: how many bytes are used and how many there are. A text begins
# with a dword: its size, whether it goes to standard error, and whether its format is a number.
_TEXTS_HEAD = struct.Struct("<II")
_TEXT_BYTES = 16 << 20
_TO_ERRORS, _HAS_NUMBER = 1, 2

# The state of the device library's malloc, all zeros at first; the memory that it asks for, in
# slabs of 2 MiB or for one large object, whose addresses are those of whole pages.
_HEAP_STATE_BYTES = 128 << 10
_HEAP_BYTES = 256 << 20
_SLAB, _PAGE = 2 << 20, 4 << 10

_ASSERTION = re.compile(
    r"(?P<file>.*):(?P<line>\d+): (?P<function>.*): Device-side assertion `(?P<text>.*)' failed\.",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Assertion:
    """A failed assertion as HIP prints it."""

    message: str
    file: str
    line: int
    text: str
    group: tuple[int, int, int]
    """The workgroup in which it first failed."""
    wave: int
    """The wave in which it first failed."""
    lane: int
    """The lane in which it first failed."""


def write_output(stream: int, data: bytes) -> None:
    """Write to Python's standard output or standard error, at once."""
    out = sys.stderr if stream else sys.stdout
    if out is None:
        return
    out.flush()
    binary = getattr(out, "buffer", None)
    if binary is not None:
        binary.write(data)
        binary.flush()
    else:
        out.write(data.decode("utf-8", "replace"))
        out.flush()


def prints_to_buffer(kernel: Kernel) -> bool:
    """Whether a kernel puts text into a buffer, which is read after the launch."""
    return any(each.value_kind == "hidden_printf_buffer" for each in kernel.metadata.arguments)


class HostSide:
    """What the launches of a device share: where texts go, and the memory of malloc, which outlives
    launches. write: may be replaced."""

    def __init__(self, memory: DeviceMemory, write: Write = write_output) -> None:
        self.memory = memory
        self.write = write
        self._heap: DeviceHeap | None = None
        self._lock = Lock()

    @property
    def heap(self) -> DeviceHeap:
        """The memory of malloc; it is made when a kernel first needs it."""
        with self._lock:
            if self._heap is None:
                self._heap = DeviceHeap(self.memory)
            return self._heap


class DeviceHeap:
    """One piece of device memory, of which kernels get parts. state: the address of the device
    library's own records."""

    def __init__(self, memory: DeviceMemory) -> None:
        room = _HEAP_BYTES if memory.room is None else min(_HEAP_BYTES, memory.room // 4)
        size = max(room // _SLAB, 1) * _SLAB
        start = memory.allocate(size + _SLAB, "memory of malloc in kernels")
        self.state = memory.allocate(_HEAP_STATE_BYTES, "state of malloc in kernels", zeroed=True)
        self._first = -(-start // _SLAB) * _SLAB
        self._end = self._first + size
        self._taken: dict[int, int] = {}
        self._lock = Lock()

    def allocate(self, size: int) -> int:
        """Return the address of a free part, 0 if no part is free."""
        alignment = _SLAB if size % _SLAB == 0 else _PAGE
        with self._lock:
            at = self._first
            for start in sorted(self._taken):
                if at + size <= start:
                    break
                at = -(-(start + self._taken[start]) // alignment) * alignment
            if not 0 < size <= self._end - at:
                return 0
            self._taken[at] = size
            return at

    def free(self, address: int) -> bool:
        """Free a part; return whether there is one at the address."""
        with self._lock:
            return self._taken.pop(address, None) is not None


@dataclass
class HostCalls:
    """The host's part of one launch at a time."""

    side: HostSide
    formats: Sequence[str]
    context: NDArray[np.uint64]
    """The context of the host thread (`layout.Context`)."""
    hidden: Hidden
    """What the kernel's hidden arguments point to."""
    text_bytes: int
    refused: str = ""
    """Why the host has not done what a wave asked for."""
    assertion: Assertion | None = None
    """The first assertion that has failed since the last launch began."""
    callback: HostCallback = field(init=False)
    _texts: dict[int, bytearray] = field(default_factory=dict, repr=False)
    _numbers: int = 0

    def __post_init__(self) -> None:
        # The callback must not keep this object alive: only the collector would free the cycle.
        myself = weakref.ref(self)

        def ask() -> Answer:
            calls = myself()
            assert calls is not None
            return calls.serve()

        self.callback = HostCallback(ask)

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        formats: Sequence[str],
        side: HostSide,
        context: NDArray[np.uint64],
        calls: bool,
    ) -> HostCalls | None:
        """Make what a kernel asks for by its hidden arguments, None if that is nothing. calls:
        whether it may interrupt the host."""
        asks = {argument.value_kind for argument in kernel.metadata.arguments}
        call = calls and "hidden_hostcall_buffer" in asks
        prints = prints_to_buffer(kernel)
        if not call and not prints:
            return None
        memory = side.memory
        call_at = memory.allocate(_CALL_BYTES, "hostcall buffer", zeroed=True) if call else 0
        room = _TEXT_BYTES if memory.room is None else min(_TEXT_BYTES, memory.room // 4)
        text_bytes = max(room, 1 << 12)
        text_at = memory.allocate(text_bytes, "printf buffer") if prints else 0
        state = side.heap.state if call and "hidden_heap_v1" in asks else 0
        hidden = Hidden(call_at, text_at, state)
        made = cls(side, formats, context, hidden, text_bytes)
        for address in (call_at, text_at):
            if address:
                weakref.finalize(made, memory.free, address).atexit = False
        if call:
            _make_buffer(memory.view(call_at, _CALL_BYTES), call_at)
        return made

    def begin(self) -> None:
        """Forget the previous launch."""
        self.refused, self.assertion = "", None
        self._texts.clear()
        if self.hidden.printf_buffer:
            head = self.side.memory.view(self.hidden.printf_buffer, _TEXTS_HEAD.size)
            _TEXTS_HEAD.pack_into(head, 0, 0, self.text_bytes)

    def finish(self) -> None:
        """Write the texts in the buffer, and raise the exception that a service raised during the
        launch."""
        if self.hidden.printf_buffer:
            for stream, text in self._buffered():
                self._print(stream, text, 0)
        if self.callback.error is not None:
            error, self.callback.error = self.callback.error, None
            raise error

    def serve(self) -> Answer:
        """Serve the packets that are ready."""
        if not self.hidden.hostcall_buffer:
            return self._refuse(_NO_BUFFER)
        buffer = self.side.memory.view(self.hidden.hostcall_buffer, _CALL_BYTES)
        ready: list[int] = []
        (packet,) = struct.unpack_from("<Q", buffer, _READY)
        while packet and len(ready) < _PACKETS:
            ready.append(packet & _MASK)
            (packet,) = struct.unpack_from("<Q", buffer, _FIRST_HEAD + ready[-1] * _HEAD.size)
        struct.pack_into("<Q", buffer, _READY, 0)
        for number in reversed(ready):  # The packets form a stack, so the last one was sent first.
            if not self._packet(buffer, number):
                return Answer.REFUSED
        return Answer.DONE

    def _packet(self, buffer: memoryview, number: int) -> bool:
        """Serve the lanes of a packet; return whether that is possible."""
        at = _FIRST_HEAD + number * _HEAD.size
        _, lanes, service, flags = _HEAD.unpack_from(buffer, at)
        serve = {_PRINT: self._part, _MEMORY: self._allot}.get(service)
        if serve is None:
            self._refuse(_REFUSED.get(service, f"the kernel asks the host for service {service}"))
            return False
        first = _FIRST_WORDS + number * _WORDS_BYTES
        for lane in range(_LANES):
            if lanes >> lane & 1:
                place = first + lane * _LANE_WORDS * 8
                words = struct.unpack_from(f"<{_LANE_WORDS}Q", buffer, place)
                struct.pack_into("<Q", buffer, place, serve(words, lane))
        struct.pack_into("<I", buffer, at + _HEAD.size - 4, flags & ~1)
        return True

    def _refuse(self, reason: str) -> Answer:
        self.refused = reason
        return Answer.REFUSED

    def _allot(self, words: Sequence[int], lane: int) -> int:
        """Free a piece of memory if there is an address, otherwise return a new one."""
        address, size = words[:2]
        if address:
            self.side.heap.free(address)
            return 0
        return self.side.heap.allocate(size)

    def _part(self, words: Sequence[int], lane: int) -> int:
        """Take a part of a text. Return what the next one begins with, or printf's result."""
        head = words[0]
        if head & _BEGINS:
            self._numbers += 1
            head = head & (1 << _NUMBER_SHIFT) - 1 & ~_BEGINS | self._numbers << _NUMBER_SHIFT
        text = self._texts.setdefault(head >> _NUMBER_SHIFT, bytearray())
        count = head >> _COUNT_SHIFT & _COUNT_MASK
        text += struct.pack(f"<{count}Q", *words[1 : 1 + count])
        if not head & _ENDS:
            return head
        data = bytes(self._texts.pop(head >> _NUMBER_SHIFT))
        arguments = Words(data)
        stream = arguments.integer(64, False) & 1
        written = format_c(arguments.string(), arguments)
        self._print(stream, written, lane)
        return len(written)

    def _print(self, stream: int, text: bytes, lane: int) -> None:
        self.side.write(stream, text)
        failed = _ASSERTION.fullmatch(text.decode("utf-8", "replace").strip()) if stream else None
        if failed is not None and self.assertion is None:
            group = tuple(int(value) for value in self.context[Context.GROUP_X : Context.WAVE])
            self.assertion = Assertion(
                failed[0],
                failed["file"],
                line=int(failed["line"]),
                text=failed["text"],
                group=(group[0], group[1], group[2]),
                wave=int(self.context[Context.WAVE]),
                lane=lane,
            )

    def _buffered(self) -> list[tuple[int, bytes]]:
        """Return the texts in the buffer, and where they go."""
        buffer = self.side.memory.view(self.hidden.printf_buffer, self.text_bytes)
        used = min(_TEXTS_HEAD.unpack_from(buffer, 0)[0], self.text_bytes - _TEXTS_HEAD.size)
        data, at = bytes(buffer[_TEXTS_HEAD.size : _TEXTS_HEAD.size + used]), 0
        forms = _forms(self.formats)
        found = []
        while at + 4 <= used:
            (head,) = struct.unpack_from("<I", data, at)
            size = head >> 2
            arguments = Words(data[at + 4 : at + size])
            if head & _HAS_NUMBER:
                form = forms.get(arguments.integer(64, False), b"")
            else:
                form = arguments.string()
            found.append((int(bool(head & _TO_ERRORS)), format_c(form, arguments)))
            if not size:
                break
            at += size
        if self.text_bytes - used < _ALMOST_FULL:
            found.append((1, _lost(self.text_bytes)))
        return found


_NO_BUFFER = "the code object asks for no hostcall buffer"
# If less space than this is left in the buffer, texts may have been lost.
_ALMOST_FULL = 1 << 10


def _lost(nbytes: int) -> bytes:
    return (
        f"amdjit: the printf buffer of {nbytes} bytes is full, and later text of this launch may "
        "be missing\n"
    ).encode()


def _forms(formats: Sequence[str]) -> dict[int, bytes]:
    """Return the formats by their numbers, from "0:0:9e513e48da781724,value %d"."""
    found = {}
    for text in formats:
        number, comma, form = text.partition(",")
        digits = number.rpartition(":")[2]
        if comma and re.fullmatch("[0-9a-fA-F]{1,16}", digits):
            found[int(digits, 16)] = form.encode("utf-8", "surrogateescape")
    return found


def _make_buffer(buffer: memoryview, address: int) -> None:
    """Write a buffer in which all packets are free. Number 0 with a tag is the last of the stack,
    and 0 its end."""
    words = address + _FIRST_WORDS
    signal, free = address + _SIGNAL_AT, _PACKETS - 1
    _BUFFER.pack_into(buffer, 0, address + _FIRST_HEAD, words, signal, free, 0, _MASK)
    for number in range(1, _PACKETS):
        following = number - 1 or _TAG
        _HEAD.pack_into(buffer, _FIRST_HEAD + number * _HEAD.size, following, 0, 0, 0)
    _SIGNAL.pack_into(buffer, _SIGNAL_AT, 1, 0, address + _MAILBOX_AT, 1)
