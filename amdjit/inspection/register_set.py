"""Sets of registers as integers with a bit for each: small, and quick to make of one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["RegisterSet", "register_set"]

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, eq=False)
class RegisterSet(Set[int]):
    """The numbers of registers, in order: a set that equals other sets of the same numbers.

    bits: bit n stands for register n.
    """

    bits: int

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number >= 0 and self.bits >> number & 1 == 1

    def __iter__(self) -> Iterator[int]:
        left = self.bits
        while left:
            lowest = left & -left
            yield lowest.bit_length() - 1
            left ^= lowest

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __hash__(self) -> int:
        return self._hash()

    def __repr__(self) -> str:
        return f"{{{', '.join(map(str, self))}}}"

    @classmethod
    def _from_iterable(cls, it: Iterable[_Item]) -> frozenset[_Item]:
        return frozenset(it)


def register_set(numbers: Iterable[int]) -> RegisterSet:
    """Return the set of these numbers."""
    return RegisterSet(sum(1 << number for number in set(numbers)))
