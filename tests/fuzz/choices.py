"""Choices read from bytes: the same bytes write the same program, shorter and smaller bytes a
simpler one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Answers questions one byte after the other; after the last byte every answer is the first
    one."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    @property
    def is_used_up(self) -> bool:
        """Whether all answers that follow are the first ones."""
        return self._at >= len(self._data)

    def number(self, low: int, high: int) -> int:
        """Return a whole number from low to high, at most 256 of them."""
        return low + self._byte() * (high - low + 1) // 256

    def pick(self, *items: T) -> T:
        """Return one of the items."""
        return items[self.number(0, len(items) - 1)]

    def chance(self, percent: int) -> bool:
        """Whether something with this probability happens; after the last byte it never does."""
        return self.number(0, 99) >= 100 - percent


def reduced(data: bytes, still_fails: Callable[[bytes], bool], attempts: int = 150) -> bytes:
    """Return fewer and smaller bytes that fail as well: pieces are left out, then set to zero."""
    for replace in (b"", b"\0"):
        size = max(1, len(data) // 2)
        while size:
            at = 0
            while at < len(data) and attempts:
                shorter = data[:at] + replace * len(data[at : at + size]) + data[at + size :]
                attempts -= shorter != data
                if shorter != data and still_fails(shorter):
                    data = shorter
                    at += size if replace else 0
                else:
                    at += size
            size //= 2
    return data
