"""Values of the lanes of a wave: what is known of them, and arithmetic with it.

All numbers are of 32 bits, except those of `wide` functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

__all__ = [
    "UNIFORM",
    "Steps",
    "Value",
    "add",
    "bits",
    "constant",
    "each_lane",
    "masked",
    "meet",
    "multiply",
    "shift_left",
    "shift_right",
    "signed24",
    "subtract",
    "wide_product",
    "wide_sum",
    "widened",
]

_BITS = 32
_MASK = (1 << _BITS) - 1

Steps = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A number in each lane: B + steps[lane], modulo 2**32.

    known: B modulo 2**known is `low`. steps: of each lane, the first one 0; None if all are 0.
    """

    known: int = 0
    low: int = 0
    steps: Steps | None = None

    @property
    def constant(self) -> int | None:
        """The number, if it is known and the same in all lanes."""
        return self.low if self.known == _BITS and self.steps is None else None


UNIFORM = Value()


def constant(number: int) -> Value:
    """Return a value that is known."""
    return Value(_BITS, number & _MASK)


def each_lane(numbers: Sequence[int], known: int = _BITS) -> Value:
    """Return a value of which these numbers are known, modulo 2**known as far as all lanes have
    them in common."""
    first = numbers[0]
    steps = tuple((number - first) & _MASK for number in numbers)
    return Value(known, first & _ones(known), steps if any(steps) else None)


def meet(one: Value, other: Value) -> Value | None:
    """Return what two values have in common, None if lanes differ differently."""
    if one == other:
        return one
    if one.steps != other.steps:
        return None
    known = min(one.known, other.known, _trailing_zeros(one.low ^ other.low))
    return Value(known, one.low & _ones(known), one.steps)


def add(one: Value, other: Value) -> Value:
    """Return the sum."""
    known = min(one.known, other.known)
    steps = _sum(one.steps, other.steps, 1)
    return Value(known, (one.low + other.low) & _ones(known), steps)


def subtract(one: Value, other: Value) -> Value:
    """Return the difference."""
    known = min(one.known, other.known)
    steps = _sum(one.steps, other.steps, -1)
    return Value(known, (one.low - other.low) & _ones(known), steps)


def multiply(one: Value, other: Value) -> Value | None:
    """Return the product, None if it differs between lanes by an unknown factor."""
    if one.constant is None:
        one, other = other, one
    factor = one.constant
    if factor is None:
        if one.steps is not None or other.steps is not None:
            return None
        known = min(one.known, other.known)
        return Value(known, one.low * other.low & _ones(known))
    known = min(_BITS, other.known + _trailing_zeros(factor))
    steps = None if other.steps is None else _normal(step * factor for step in other.steps)
    return Value(known, other.low * factor & _ones(known), steps)


def shift_left(one: Value, count: Value) -> Value | None:
    """Return the value shifted to the left by the count's low five bits."""
    if count.constant is None:
        return _unless_lanes_differ(one, count)
    return multiply(one, constant(1 << (count.constant & 31)))


def shift_right(one: Value, count: Value, signed: bool = False) -> Value | None:
    """Return the value shifted to the right by the count's low five bits."""
    if count.constant is None:
        return _unless_lanes_differ(one, count)
    places = count.constant & 31
    if one.known == _BITS:
        numbers = [_signed(n) >> places if signed else n >> places for n in _numbers(one)]
        return each_lane([number & _MASK for number in numbers])
    known = max(one.known - places, 0)
    if one.steps is None:
        return Value(known, one.low >> places & _ones(known))
    low = _split(one, one.known)
    return None if low is None else each_lane([number >> places for number in low], known)


def bits(operator: Callable[[int, int], int], one: Value, other: Value) -> Value | None:
    """Return the values combined bit by bit: `operator` is and, or, or exclusive or of numbers."""
    known = min(one.known, other.known)
    low, other_low = _split(one, known), _split(other, known)
    if low is not None and other_low is not None:
        return each_lane([operator(a, b) for a, b in _zipped(low, other_low)], known)
    return None


def masked(one: Value, mask: int) -> Value | None:
    """Return the bits of a value that a constant has."""
    mask &= _MASK
    if mask < 1 << one.known:
        return each_lane([number & mask for number in _numbers(one)])
    if one.steps is None:
        known = max(one.known, _trailing_zeros(mask))
        return Value(known, one.low & mask)
    low = _split(one, one.known)
    return None if low is None else each_lane([number & mask for number in low], one.known)


def signed24(one: Value) -> Value | None:
    """Return the sign-extended low 24 bits."""
    if one.steps is None or one.known == _BITS:
        numbers = [((n & 0xFFFFFF) ^ 0x800000) - 0x800000 for n in _numbers(one)]
        return each_lane([n & _MASK for n in numbers], one.known if one.known < 24 else _BITS)
    return Value(one.known, one.low, one.steps) if _split(one, min(one.known, 23)) else None


def wide_sum(one: Steps | None, other: Steps | None) -> Steps | None:
    """Return the steps of a sum of 64-bit numbers."""
    if one is None or other is None:
        return one if other is None else other
    total = tuple((a + b) & (1 << 64) - 1 for a, b in zip(one, other, strict=True))
    return total if any(total) else None


def wide_product(one: Steps | None, factor: int) -> Steps | None:
    """Return the steps of a 64-bit number times a constant."""
    if one is None:
        return None
    product = tuple(step * factor & (1 << 64) - 1 for step in one)
    return product if any(product) else None


def widened(one: Steps | None) -> Steps | None:
    """Return the steps of a 32-bit number that is extended to 64 bits.

    Between the lanes of a wave it is taken not to wrap around.
    """
    return None if one is None else tuple(_signed(step) & (1 << 64) - 1 for step in one)


def _unless_lanes_differ(one: Value, other: Value) -> Value | None:
    return UNIFORM if one.steps is None and other.steps is None else None


def _numbers(one: Value) -> list[int]:
    """Return the low bits of each lane that are known, one number if all lanes have the same."""
    mask = _ones(one.known)
    return [one.low + step & mask for step in one.steps or (0,)]


def _split(one: Value, known: int) -> list[int] | None:
    """Return the low bits of each lane, None if the bits above are not the same in all lanes."""
    if one.steps is None:
        return [one.low & _ones(known)]
    numbers = [one.low + step & _MASK for step in one.steps]
    # The first lane's is less than 2**one.known: no other one may reach into what is not known.
    if len({number >> known for number in numbers}) > 1:
        return None
    return [number & _ones(known) for number in numbers]


def _zipped(one: list[int], other: list[int]) -> Iterable[tuple[int, int]]:
    lanes = max(len(one), len(other))
    return zip(one * (lanes // len(one)), other * (lanes // len(other)), strict=True)


def _sum(one: Steps | None, other: Steps | None, sign: int) -> Steps | None:
    if other is None:
        return one
    if one is None:
        return other if sign > 0 else _normal(-step for step in other)
    return _normal(a + sign * b for a, b in zip(one, other, strict=True))


def _normal(steps: Iterable[int]) -> Steps | None:
    found = tuple(step & _MASK for step in steps)
    return found if any(found) else None


def _ones(count: int) -> int:
    return (1 << count) - 1


def _signed(number: int) -> int:
    return number - (1 << _BITS) if number >> _BITS - 1 & 1 else number


def _trailing_zeros(number: int) -> int:
    number &= _MASK
    return (number & -number).bit_length() - 1 if number else _BITS
