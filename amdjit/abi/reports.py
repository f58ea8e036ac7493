"""What kernels tell the host while they run: failed assertions, exceptions, bad indices, output;
and where the workgroups of a cooperative launch meet.

A kernel that does any of this gets one more argument after its own: the address of a record in
global memory. This module holds the layout of the record, and the tables that turn its numbers into
text again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from amdjit.late_methods import dataclass
from amdjit.types import Scalar, boolean


class Word(IntEnum):
    """The record's head, in words of 32 bits. Printed lines follow after HEAD_BYTES."""

    CLAIMED = 0  # 1 once a work-item has reported a fault: the first one stays
    SITE = 1
    BLOCK = 2  # and the next two
    THREAD = 5  # and the next two
    CALLS = 8  # 64 bits: the calls that led to the fault, see `ReportTable.calls_of`
    CURSOR = 10  # 64 bits: bytes that prints have asked for
    CAPACITY = 12  # 64 bits: bytes for lines; written by the host
    # 64 bits: where the first line that did not fit would be; the host writes the capacity
    END = 14
    LOST = 16  # lines that did not fit
    VALUES = 18  # of the fault's text, MAX_VALUE_WORDS at most
    ARRIVED = 62  # workgroups that have come to the grid's barrier since it last let all go on
    ROUND = 63  # how often it has


MAX_VALUE_WORDS = Word.ARRIVED - Word.VALUES
HEAD_BYTES = 4 * 64
# Of each printed line: the site, block x, y, z, and the thread as x | y << 10 | z << 20.
LINE_HEAD_WORDS = 5


@dataclass(frozen=True, slots=True)
class Field:
    """A place for a value in a text, an f-string's `{value!conversion:spec}`."""

    type: Scalar
    spec: str = ""
    conversion: str = ""

    @property
    def words(self) -> int:
        """The 32-bit words of the value in a record."""
        return -(-self.type.bits // 32)

    def text(self, words: Sequence[int]) -> str:
        """Return the value of these words as Python writes it."""
        return format_value(self.value(words), self.spec, self.conversion)

    def value(self, words: Sequence[int]) -> Any:
        """Return the value of these words: a Python bool or int, or a NumPy scalar for a float."""
        bits = sum(word << 32 * position for position, word in enumerate(words))
        if self.type is boolean:
            return bool(bits & 1)
        raw = np.frombuffer(bits.to_bytes(8, "little"), f"u{self.type.nbytes}", 1)
        value = raw.view(self.type.dtype)[0]
        return value if self.type.is_float else int(value)


def format_value(value: Any, spec: str, conversion: str) -> str:
    """Format as an f-string does; ValueError for a specification that does not fit the value."""
    if conversion or not spec:
        # As NumPy's scalar: as a Python float, an f32 of 0.1 has more digits.
        return format(str(value), spec)
    if isinstance(value, np.integer):
        value = int(value)
    return format(value if isinstance(value, (bool, int)) else float(value), spec)


@dataclass(frozen=True, slots=True)
class Text:
    """Text with places for values."""

    parts: tuple[str | Field, ...] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        """The places for values, in order."""
        return tuple(part for part in self.parts if isinstance(part, Field))

    @property
    def words(self) -> int:
        """The 32-bit words of all values."""
        return sum(field.words for field in self.fields)

    def fill(self, words: Sequence[int]) -> str:
        """Return the text with the values of these words in their places."""
        filled, at = [], 0
        for part in self.parts:
            if isinstance(part, str):
                filled.append(part)
            else:
                filled.append(part.text(words[at : at + part.words]))
                at += part.words
        return "".join(filled)

    def values(self, words: Sequence[int]) -> tuple[Any, ...]:
        """Return the values themselves."""
        found, at = [], 0
        for field in self.fields:
            found.append(field.value(words[at : at + field.words]))
            at += field.words
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Group:
    """An argument of an exception that `make` puts together from others: a tuple, a record, a
    complex number."""

    make: Callable[..., Any]
    items: tuple[ExceptionArgument, ...]


@dataclass(frozen=True, slots=True)
class KnownArgument:
    """An argument of an exception that was known when compiling."""

    value: Any


ExceptionArgument = Field | Text | Group | KnownArgument


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that the host raises for a fault: its class and how its arguments are made.

    positional, keywords: in the order in which their values stand in the record.
    """

    kind: type[BaseException]
    positional: tuple[ExceptionArgument, ...] = ()
    keywords: tuple[tuple[str, ExceptionArgument], ...] = ()

    def arguments(self, words: Sequence[int]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments for a record with these words of values."""
        remaining = list(words)
        positional = [_argument(each, remaining) for each in self.positional]
        return positional, {name: _argument(each, remaining) for name, each in self.keywords}


def _argument(argument: ExceptionArgument, remaining: list[int]) -> Any:
    """Return one argument, and take its words away from those that remain."""
    if isinstance(argument, KnownArgument):
        return argument.value
    if isinstance(argument, Group):
        return argument.make(*(_argument(item, remaining) for item in argument.items))
    words = remaining[: argument.words]
    del remaining[: argument.words]
    return argument.value(words) if isinstance(argument, Field) else argument.fill(words)


@dataclass(frozen=True, slots=True)
class FaultSite:
    """A statement that may stop the kernel."""

    kind: str
    """"assert", "raise" or "index"."""
    text: Text
    file: str
    line: int
    array: str = ""
    """The name of the array that is indexed; the text's values are then `indices` indices and as
    many extents."""
    is_library: bool = False
    """Whether it is in amdjit itself."""
    indices: int = 0
    is_wrapped: bool = False
    """Whether negative indices have been counted from the end."""
    raised: Raised | None = None
    """The exception, for "raise"."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call in `caller` that may lead to a fault; `text` is its source line."""

    caller: str
    file: str
    line: int
    text: str
    is_library: bool = False


@dataclass(frozen=True, slots=True)
class ReportTable:
    """What the numbers in a kernel's records mean.

    faults, prints: numbered from 0. calls: numbered from 1. depth: functions on the longest way
    from the kernel to a report, including both ends. meets: whether the kernel has a barrier of the
    whole grid.
    """

    faults: tuple[FaultSite, ...]
    prints: tuple[Text, ...]
    calls: tuple[CallSite, ...]
    depth: int
    meets: bool = False

    @property
    def base(self) -> int:
        """The factor by which each call multiplies the number of the calls before it.

        0 if the numbers would not fit 63 bits.
        """
        base = len(self.calls) + 1
        return base if base ** (self.depth - 1) < 2**63 else 0

    def calls_of(self, number: int) -> tuple[CallSite, ...]:
        """Return the calls that led to a fault, innermost first."""
        found = []
        while number:
            number, call = divmod(number, self.base)
            found.append(self.calls[call - 1])
        return tuple(found)


def fresh_head(capacity: int) -> bytearray:
    """Return the head of a new record that has room for `capacity` bytes of lines."""
    head = bytearray(HEAD_BYTES)
    struct.pack_into("<QQ", head, 4 * Word.CAPACITY, capacity, capacity)
    return head
