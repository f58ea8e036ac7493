"""Which halves of an instruction's results depend on which halves of its sources, read from its row
(`isa/integer_rows.py`).

    v_lshl_or_b32 v0, v1, 16, v2        low half: v2's low half
                                        high half: v1's low half, v2's high half

Each source counts as several parts, 16 bits each; a condition is one part. What is followed through
the expression is which bits a part reaches: those that could differ if it did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from amdjit.isa.arithmetic import Arithmetic, Value, bits_of, is_float, number_of
from amdjit.isa.integer_rows import VECTOR_PAIR_ROWS, VECTOR_ROWS

_PART_BITS = 16
# A source's type, and its bits if it is a constant.
Source = tuple[str, int | None]
# The numbers of the parts that each half of a result depends on.
Result = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Dependent(Value):
    """reach: the bits that depend on each part of the sources."""

    reach: tuple[int, ...] = ()


def parts_of(type_name: str) -> int:
    """Return of how many parts a value is."""
    return max(bits_of(type_name) // _PART_BITS, 1)


@lru_cache(maxsize=4096)
def dependences(operation: str, clamps: bool, sources: tuple[Source, ...]) -> tuple[Result, ...]:
    """Return the dependences of each result of an instruction that has a row."""
    b = _Dependence(sum(parts_of(kind) for kind, _ in sources))
    operands, first = [], 0
    for kind, known in sources:
        operands.append(b.source(kind, known, first))
        first += parts_of(kind)
    row = VECTOR_ROWS.get(operation) or VECTOR_PAIR_ROWS[operation]
    found = ((clamps and row.clamped) or row.expression)(b, *operands)
    return tuple(map(_result, found if isinstance(found, tuple) else (found,)))


def _result(value: Value) -> Result:
    ones = (1 << _PART_BITS) - 1
    return tuple(
        tuple(n for n, bits in enumerate(_reach(value)) if bits >> _PART_BITS * part & ones)
        for part in range(parts_of(value.type))
    )


def _reach(value: Value) -> tuple[int, ...]:
    assert isinstance(value, Dependent)
    return value.reach


def _ones(type_name: str) -> int:
    return (1 << bits_of(type_name)) - 1


class _Dependence(Arithmetic):
    def __init__(self, parts: int) -> None:
        self._nothing = (0,) * parts

    def source(self, kind: str, known: int | None, first: int) -> Value:
        """Return a source whose parts have the numbers from `first` on."""
        if known is not None:
            return Dependent(kind, "", known, self._nothing)
        reach, part = list(self._nothing), (1 << _PART_BITS) - 1
        for number in range(parts_of(kind)):
            reach[first + number] = part << _PART_BITS * number & _ones(kind)
        return Dependent(kind, "", None, tuple(reach))

    def const(self, shape: Value, value: float) -> Value:
        known = None if is_float(shape.type) else int(value) & _ones(shape.type)
        return Dependent(shape.type, "", known, self._nothing)

    def binary(self, operation: str, left: Value, right: Value) -> Value:
        pairs = zip(_reach(left), _reach(right), strict=True)
        ones, rule = _ones(left.type), _RULES.get(operation, _whole)
        reach = tuple(rule(x, y, left, right) & ones if x | y else 0 for x, y in pairs)
        return Dependent(left.type, "", number_of(operation, left, right), reach)

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        reach = tuple(int(bool(x | y)) for x, y in zip(_reach(left), _reach(right), strict=True))
        return Dependent("i1", "", number_of(predicate, left, right), reach)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        if condition.known is not None:
            return yes if condition.known else no
        triples = zip(_reach(condition), _reach(yes), _reach(no), strict=True)
        reach = tuple(_ones(yes.type) if c else y | n for c, y, n in triples)
        return Dependent(yes.type, "", None, reach)

    def cast(self, operation: str, value: Value, type_name: str) -> Value:
        ones, known = _ones(type_name), value.known
        if operation not in ("trunc", "zext", "sext", "bitcast"):
            return Dependent(type_name, "", None, _all_or_none(_reach(value), ones))
        top = 1 << bits_of(value.type) - 1
        above = ones & -top if operation == "sext" else 0
        reach = tuple((bits | (above if bits & top else 0)) & ones for bits in _reach(value))
        if known is not None:
            known = (known | (above if known & top else 0)) & ones
        return Dependent(type_name, "", known, reach)

    def intrinsic(self, name: str, *arguments: Value, flags: Sequence[Value] = ()) -> Value:
        reach = tuple(map(any, zip(*map(_reach, arguments), strict=True)))
        kind = arguments[0].type
        return Dependent(kind, "", None, _all_or_none(reach, _ones(kind)))


def _all_or_none(reach: Sequence[int], ones: int) -> tuple[int, ...]:
    return tuple(ones if bits else 0 for bits in reach)


# Of the bits x and y of two operands that depend on a part, one of which is not 0: the bits of the
# result that do, and perhaps bits beyond its width.


def _whole(x: int, y: int, left: Value, right: Value) -> int:
    return -1


def _upwards(x: int, y: int, left: Value, right: Value) -> int:
    """Sums and products carry upwards only."""
    return -((x | y) & -(x | y))


def _and(x: int, y: int, left: Value, right: Value) -> int:
    """Where the other operand has a known 0, nothing passes."""
    return x & (-1 if right.known is None else right.known) | y & (
        -1 if left.known is None else left.known
    )


def _or(x: int, y: int, left: Value, right: Value) -> int:
    return x & ~(right.known or 0) | y & ~(left.known or 0)


def _xor(x: int, y: int, left: Value, right: Value) -> int:
    return x | y


def _shifted_left(x: int, y: int, left: Value, right: Value) -> int:
    if y:
        return -1
    return _upwards(x, 0, left, right) if right.known is None else x << right.known


def _shifted_right(x: int, y: int, left: Value, right: Value) -> int:
    if y:
        return -1
    return (1 << x.bit_length()) - 1 if right.known is None else x >> right.known


def _shifted_signed(x: int, y: int, left: Value, right: Value) -> int:
    if right.known is None:
        return _shifted_right(x, y, left, right)
    # As a number of Python's, an operand whose sign depends has all bits above it.
    return _shifted_right(x | -(x & 1 << bits_of(left.type) - 1), y, left, right)


_RULES: Mapping[str, Callable[[int, int, Value, Value], int]] = {
    **dict.fromkeys(("add", "sub", "mul"), _upwards),
    "and": _and,
    "or": _or,
    "xor": _xor,
    "shl": _shifted_left,
    "lshr": _shifted_right,
    "ashr": _shifted_signed,
}
