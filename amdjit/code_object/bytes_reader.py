"""A cursor over little-endian bytes that refuses to leave them, and the error of malformed ones."""

from __future__ import annotations

import struct

from amdjit.diagnostics.errors import AmdjitError
from amdjit.late_methods import dataclass

__all__ = ["BytesReader", "MalformedCodeObject", "slice_exactly", "string_at", "unpack_at"]


# No compiler makes longer names of symbols, sections and files. The limit bounds the work that a
# hostile string table can cause.
_LONGEST_STRING = 65536


def slice_exactly(data: bytes, offset: int, size: int, what: str) -> bytes:
    """Return `size` bytes at `offset`; MalformedCodeObject with `what` if the data end before."""
    if offset < 0 or size < 0 or offset + size > len(data):
        raise MalformedCodeObject(
            f"{what}: bytes {offset:#x}..{offset + size:#x} lie outside the {len(data):#x} bytes "
            "there are"
        )
    return data[offset : offset + size]


def unpack_at(layout: struct.Struct, data: bytes, offset: int, what: str) -> tuple[int, ...]:
    """Return the integers of `layout` at `offset`; MalformedCodeObject with `what` if the data end
    before."""
    return layout.unpack(slice_exactly(data, offset, layout.size, what))


def string_at(data: bytes, offset: int, what: str) -> str:
    """Return the NUL-terminated UTF-8 string at `offset`; undecodable bytes become U+FFFD."""
    if not 0 <= offset < len(data):
        raise MalformedCodeObject(f"{what}: string offset {offset:#x} lies outside its table")
    end = data.find(b"\0", offset, offset + _LONGEST_STRING)
    if end < 0:
        raise MalformedCodeObject(f"{what}: the string at {offset:#x} does not end")
    return data[offset:end].decode("utf-8", "replace")


@dataclass(slots=True)
class BytesReader:
    """Reads `data[position:end]` front to back. `what` names the structure in errors."""

    data: bytes
    position: int
    end: int
    what: str

    def __post_init__(self) -> None:
        if not 0 <= self.position <= self.end <= len(self.data):
            raise MalformedCodeObject(f"{self.what}: its bounds lie outside the data")

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        stop = self.position + size
        if size < 0 or stop > self.end:
            raise MalformedCodeObject(
                f"{self.what}: ends at {self.end:#x}, {size} bytes wanted at {self.position:#x}"
            )
        piece = self.data[self.position : stop]
        self.position = stop
        return piece

    def unsigned(self, size: int) -> int:
        """Return the next unsigned integer of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def signed(self, size: int) -> int:
        """Return the next two's complement integer of `size` bytes."""
        return int.from_bytes(self.take(size), "little", signed=True)

    def uleb(self) -> int:
        """Return the next unsigned LEB128 number, below 2**70."""
        value, shift = 0, 0
        while shift < 70:
            byte = self.unsigned(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise MalformedCodeObject(
            f"{self.what}: a LEB128 number of more than 10 bytes at {self.position:#x}"
        )

    def sleb(self) -> int:
        """Return the next signed LEB128 number."""
        start = self.position
        value = self.uleb()
        bits = 7 * (self.position - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def string(self) -> str:
        """Return the next NUL-terminated string."""
        text_end = self.data.find(
            b"\0", self.position, min(self.end, self.position + _LONGEST_STRING)
        )
        if text_end < 0:
            raise MalformedCodeObject(f"{self.what}: the string at {self.position:#x} does not end")
        text = self.data[self.position : text_end].decode("utf-8", "replace")
        self.position = text_end + 1
        return text

    @property
    def exhausted(self) -> bool:
        """Whether all bytes have been read."""
        return self.position >= self.end


# What reading a code object raises.


class MalformedCodeObject(AmdjitError):
    """The bytes are not a code object that amdjit can read; the message says what is wrong with
    them."""
