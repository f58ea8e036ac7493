"""Values of the lanes of a wave: what is known of them, and arithmetic with it.

Numbers are of any width; those of an operation have the same one.
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
    "resized",
    "shift_left",
    "shift_right",
    "subtract",
    "sum_of_steps",
    "uniform",
    "widened",
]

_SINGLE, _WIDE = 32, 64

Steps = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A number in each lane: B + steps[lane], modulo 2**width.

    known: B modulo 2**known is `low`. steps: of each lane, the first one 0; None if all are 0.
    """

    known: int = 0
    low: int = 0
    steps: Steps | None = None
    width: int = _SINGLE

    @property
    def constant(self) -> int | None:
        """The number, if it is known and the same in all lanes."""
        return self.low if self.known == self.width and self.steps is None else None


UNIFORM = Value()


def constant(number: int, width: int = _SINGLE) -> Value:
    """Return a value that is known."""
    return Value(width, number & _ones(width), None, width)


def uniform(width: int, *values: Value) -> Value | None:
    """Return what lanes compute of values in some way: the same of the same numbers, else what is
    not known."""
    return Value(width=width) if all(value.steps is None for value in values) else None


def each_lane(numbers: Sequence[int], known: int = _SINGLE, width: int = _SINGLE) -> Value:
    """Return a value of which these numbers are known, modulo 2**known as far as all lanes have
    them in common."""
    steps = _normal((number - numbers[0] for number in numbers), width)
    return Value(known, numbers[0] & _ones(known), steps, width)


def meet(one: Value, other: Value) -> Value | None:
    """Return what two values have in common, None if lanes differ differently."""
    if one == other:
        return one
    if one.steps != other.steps:
        return None
    known = min(one.known, other.known, _places_alike(one, other))
    return Value(known, one.low & _ones(known), one.steps, one.width)


def _places_alike(one: Value, other: Value) -> int:
    differing = one.low ^ other.low
    return (differing & -differing).bit_length() - 1 if differing else one.width


def add(one: Value, other: Value, sign: int = 1) -> Value:
    """Return the sum, or the difference."""
    known = min(one.known, other.known)
    steps = sum_of_steps(one.steps, other.steps, sign, one.width)
    return Value(known, (one.low + sign * other.low) & _ones(known), steps, one.width)


def subtract(one: Value, other: Value) -> Value:
    """Return the difference."""
    return add(one, other, -1)


def multiply(one: Value, other: Value) -> Value | None:
    """Return the product, None if it differs between lanes by an unknown factor."""
    if one.constant is None:
        one, other = other, one
    factor, width = one.constant, one.width
    if factor is None:
        if one.steps is not None or other.steps is not None:
            return None
        known = min(one.known, other.known)
        return Value(known, one.low * other.low & _ones(known), None, width)
    zeros = (factor & -factor).bit_length() - 1 if factor else width
    known = min(width, other.known + zeros)
    steps = None if other.steps is None else _normal((n * factor for n in other.steps), width)
    return Value(known, other.low * factor & _ones(known), steps, width)


def shift_left(one: Value, count: Value) -> Value | None:
    """Return the value shifted to the left by less than its width."""
    if count.constant is None:
        return uniform(one.width, one, count)
    return multiply(one, constant(1 << count.constant, one.width))


def shift_right(one: Value, count: Value, signed: bool = False) -> Value | None:
    """Return the value shifted to the right by less than its width."""
    if count.constant is None:
        return uniform(one.width, one, count)
    places, width = count.constant, one.width
    if one.known == width:
        numbers = [_signed(n, width) >> places if signed else n >> places for n in _numbers(one)]
        return each_lane([number & _ones(width) for number in numbers], width, width)
    known = max(one.known - places, 0)
    if one.steps is None:
        return Value(known, one.low >> places & _ones(known), None, width)
    low = _split(one, one.known)
    return None if low is None else each_lane([n >> places for n in low], known, width)


def bits(operator: Callable[[int, int], int], one: Value, other: Value) -> Value | None:
    """Return the values combined bit by bit: `operator` is and, or, or exclusive or of numbers."""
    known = min(one.known, other.known)
    low, other_low = _split(one, known), _split(other, known)
    if low is not None and other_low is not None:
        return each_lane([operator(a, b) for a, b in _zipped(low, other_low)], known, one.width)
    return None


def masked(one: Value, mask: int) -> Value | None:
    """Return the bits of a value that a constant has."""
    width = one.width
    if mask < 1 << one.known:
        return each_lane([number & mask for number in _numbers(one)], width, width)
    if one.steps is None:
        known = max(one.known, (mask & -mask).bit_length() - 1)
        return Value(known, one.low & mask, None, width)
    low = _split(one, one.known)
    return None if low is None else each_lane([n & mask for n in low], one.known, width)


def resized(one: Value, width: int, signed: bool) -> Value | None:
    """Return the value truncated, or extended to more bits; None if lanes may wrap around.

    Numbers that become addresses, of 64 bits, are taken not to wrap around between the lanes of a
    wave.
    """
    known, steps = min(one.known, width), one.steps
    if width < one.width:
        low = one.low & _ones(known)
        return Value(known, low, None if steps is None else _normal(steps, width), width)
    if one.known == one.width:
        numbers = [_signed(n, one.width) if signed else n for n in _numbers(one)]
        return each_lane(numbers, width, width)
    if steps is not None and width != _WIDE and _split(one, known) is None:
        return None
    return Value(known, one.low, widened(steps, one.width, width), width)


def widened(one: Steps | None, width: int = _SINGLE, wider: int = _WIDE) -> Steps | None:
    """Return the steps of a number that is extended to more bits, if it does not wrap around
    between the lanes of a wave."""
    return None if one is None else tuple(_signed(step, width) & _ones(wider) for step in one)


def sum_of_steps(
    one: Steps | None, other: Steps | None, sign: int = 1, width: int = _WIDE
) -> Steps | None:
    """Return the steps of a sum, or of a difference."""
    if other is None:
        return one
    pairs = zip(one or (0,) * len(other), other, strict=True)
    return _normal((a + sign * b for a, b in pairs), width)


def _numbers(one: Value) -> list[int]:
    """Return the low bits of each lane that are known, one number if all lanes have the same."""
    mask = _ones(one.known)
    return [one.low + step & mask for step in one.steps or (0,)]


def _split(one: Value, known: int) -> list[int] | None:
    """Return the low bits of each lane, None if the bits above are not the same in all lanes."""
    if one.steps is None:
        return [one.low & _ones(known)]
    numbers = [one.low + step & _ones(one.width) for step in one.steps]
    # The first lane's is less than 2**one.known: no other one may reach into what is not known.
    if len({number >> known for number in numbers}) > 1:
        return None
    return [number & _ones(known) for number in numbers]


def _zipped(one: list[int], other: list[int]) -> Iterable[tuple[int, int]]:
    lanes = max(len(one), len(other))
    return zip(one * (lanes // len(one)), other * (lanes // len(other)), strict=True)


def _normal(steps: Iterable[int], width: int) -> Steps | None:
    found = tuple(step & _ones(width) for step in steps)
    return found if any(found) else None


def _ones(count: int) -> int:
    return (1 << count) - 1


def _signed(number: int, width: int) -> int:
    return number - (1 << width) if number >> width - 1 & 1 else number
