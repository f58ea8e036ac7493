"""Integer operators computed with Python's integers, and values that test their edge cases."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.types import Scalar


def interesting(scalar: Scalar) -> list[int]:
    edges = {
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        10,
        31,
        32,
        63,
        64,
        100,
        scalar.maximum,
        scalar.maximum - 1,
        scalar.minimum,
    }
    edges |= {scalar.minimum + 1, -1, -2, -3, -7, -8, -10, -100} if scalar.is_signed else set()
    return sorted(value for value in edges if scalar.minimum <= value <= scalar.maximum)


def wrapped(scalar: Scalar, value: int) -> int:
    value &= (1 << scalar.bits) - 1
    return value - (1 << scalar.bits) if scalar.is_signed and value >> (scalar.bits - 1) else value


def in_python(scalar: Scalar, operator: str, a: int, b: int) -> int:
    """Compute with Python's integers, and NumPy's meaning of dividing by zero."""
    unsigned = b & ((1 << scalar.bits) - 1)
    far = unsigned >= scalar.bits
    results: dict[str, Callable[[], int]] = {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "//": lambda: a // b if b else 0,
        "%": lambda: a % b if b else 0,
        "**": lambda: pow(a, unsigned, 1 << scalar.bits),
        "&": lambda: a & b,
        "|": lambda: a | b,
        "^": lambda: a ^ b,
        "<<": lambda: 0 if far else a << unsigned,
        ">>": lambda: (-1 if a < 0 else 0) if far else a >> unsigned,
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
    }
    return wrapped(scalar, results[operator]())
