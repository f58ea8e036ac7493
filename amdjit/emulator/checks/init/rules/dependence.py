"""Which halves of an instruction's results depend on which halves of its sources, read from its row
(`isa/integer_rows.py`).

    v_lshl_or_b32 v0, v1, 16, v2        low half: v2's low half
                                        high half: v1's low half, v2's high half

Each source counts as several parts, 16 bits each; a condition is one part. What is followed through
the expression, for one part at a time, is which bits could differ if that part did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from amdjit.isa.arithmetic import Arithmetic, Value, bits_of, is_float, number_of
from amdjit.isa.integer_rows import expression_of
from amdjit.late_methods import dataclass

_PART_BITS = 16
# A source's type, and its bits if it is a constant.
Source = tuple[str, int | None]
# The numbers of the parts that each half of a result depends on.
Result = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class _Dependent(Value):
    """reach: the bits that could differ."""

    reach: int = 0


def parts_of(kind: str) -> int:
    """Return of how many parts a value of a type is."""
    return max(bits_of(kind) // _PART_BITS, 1)


@lru_cache(maxsize=4096)
def dependences(operation: str, clamps: bool, sources: tuple[Source, ...]) -> tuple[Result, ...]:
    """Return the dependences of each result of an instruction that has a row."""
    expression = expression_of(operation, clamps)
    assert expression is not None
    places = [(n, half) for n, (kind, _) in enumerate(sources) for half in range(parts_of(kind))]
    # By part, by result.
    reached: list[tuple[Value, ...]] = []
    for place, half in places:
        operands = [
            _value(kind, _ones(kind) & 0xFFFF << _PART_BITS * half if n == place else 0, known)
            for n, (kind, known) in enumerate(sources)
        ]
        found = expression(_READER, *operands)
        reached.append(found if isinstance(found, tuple) else (found,))
    return tuple(map(_halves, zip(*reached, strict=True)))


def _halves(by_part: tuple[Value, ...]) -> Result:
    return tuple(
        tuple(n for n, one in enumerate(by_part) if _reach(one) >> _PART_BITS * half & 0xFFFF)
        for half in range(parts_of(by_part[0].type))
    )


def _ones(kind: str) -> int:
    return (1 << bits_of(kind)) - 1


def _value(kind: str, reach: int, known: int | None = None) -> Value:
    return _Dependent(kind, "", known, 0 if known is not None else reach & _ones(kind))


def _reach(value: Value) -> int:
    assert isinstance(value, _Dependent)
    return value.reach


class _Reader(Arithmetic):
    def const(self, shape: Value, value: float) -> Value:
        known = None if is_float(shape.type) else int(value) & _ones(shape.type)
        return _value(shape.type, 0, known)

    def binary(self, operation: str, left: Value, right: Value) -> Value:
        x, y, rule = _reach(left), _reach(right), _RULES.get(operation)
        known = number_of(operation, left, right)
        reach = -bool(x | y)
        if reach and rule is not None:
            reach = rule(x, y, left, right)
        return _value(left.type, reach, known)

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        reach = -bool(_reach(left) | _reach(right))
        return _value("i1", reach, number_of(predicate, left, right))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        if condition.known is not None:
            return yes if condition.known else no
        return _value(yes.type, -1 if _reach(condition) else _reach(yes) | _reach(no))

    def cast(self, operation: str, value: Value, type_name: str) -> Value:
        reach, known, top = _reach(value), value.known, 1 << bits_of(value.type) - 1
        if operation == "sext":
            # As numbers of Python's: all bits above the sign are as it is.
            reach, known = reach | -(reach & top), known and known | -(known & top)
        elif operation not in ("trunc", "zext", "bitcast"):
            reach, known = -bool(reach), None
        return _value(type_name, reach, None if known is None else known & _ones(type_name))

    def intrinsic(self, name: str, *arguments: Value, flags: Sequence[Value] = ()) -> Value:
        return _value(arguments[0].type, -any(map(_reach, arguments)))


_READER = _Reader()


def _passed(known: int | None) -> int:
    """Return the places where the other operand of a bitwise and counts."""
    return -1 if known is None else known


def _left(x: int, y: int, value: Value, amount: Value) -> int:
    if y:
        return -1
    return -(x & -x) if amount.known is None else x << amount.known


def _right(x: int, y: int, value: Value, amount: Value) -> int:
    if y:
        return -1
    return (1 << x.bit_length()) - 1 if amount.known is None else x >> amount.known


def _right_signed(x: int, y: int, value: Value, amount: Value) -> int:
    top = x & 1 << bits_of(value.type) - 1
    return _right(x if amount.known is None else x | -top, y, value, amount)


# From the bits of two operands that could differ, and the operands, to those of the result, and
# perhaps others beyond its width. Sums and products carry upwards only.
_RULES: Mapping[str, Callable[[int, int, Value, Value], int]] = {
    **dict.fromkeys(("add", "sub", "mul"), lambda x, y, *_: -((x | y) & -(x | y))),
    "and": lambda x, y, one, other: x & _passed(other.known) | y & _passed(one.known),
    "or": lambda x, y, one, other: x & ~(other.known or 0) | y & ~(one.known or 0),
    "xor": lambda x, y, *_: x | y,
    "shl": _left,
    "lshr": _right,
    "ashr": _right_signed,
}
