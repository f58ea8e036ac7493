"""Python's functions of integers: greatest common divisors, least common multiples, integer square
roots."""

from __future__ import annotations

from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.roots_and_remainders import sqrt
from amdjit.intrinsics.numbers.integers import ctz
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar, f32, f64, i64, u32, u64

__all__ = ["gcd", "isqrt", "lcm"]

_WIDE: Any = (i64, u64)


@compile_time
def _only_integers(compilation: Compilation, function: str, *values: Any) -> None:
    for value in values:
        if not isinstance(value, int) and not (isinstance(value, Scalar) and value.is_integer):
            raise Refused(f"`{function}` of {value}", "give integers: `i32(...)`")


@device_function
def gcd(a, b, c=0, d=0):
    """Return the greatest common divisor of two to four integers, in their type; 0 of zeros."""
    _only_integers("gcd", a, b, c, d)
    return _gcd(_gcd(_gcd(a, b), c), d)


@device_function
def lcm(a, b, c=1, d=1):
    """Return the least common multiple of two to four integers, in their type (its low bits, where
    it is larger)."""
    _only_integers("lcm", a, b, c, d)
    return _lcm(_lcm(_lcm(a, b), c), d)


@device_function
def _lcm(a, b):
    divisor = _gcd(a, b)
    return abs(a // divisor * b) if divisor != 0 else divisor


@device_function
def isqrt(n):
    """Return the greatest integer whose square is not above n; n must not be negative."""
    _only_integers("isqrt", n)
    if isinstance(n, _WIDE):
        return type(n)(_root(u64(n), u64(sqrt(f64(n))), u64((1 << 32) - 1)))
    return type(n)(_root(u32(n), u32(sqrt(f32(n))), u32((1 << 16) - 1)))


@device_function
def _root(n, guess, largest):
    # Rounding n and the root to floats moves it by less than 1.
    root = min(guess, largest)
    if root * root > n:
        root -= 1
    elif root < largest and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@device_function
def _gcd(a, b):
    kind = type(a + b)
    if isinstance(kind(a), _WIDE):
        return kind(_divisor(u64(abs(kind(a))), u64(abs(kind(b)))))
    return kind(_divisor(u32(abs(kind(a))), u32(abs(kind(b)))))


@device_function
def _divisor(a, b):
    """Return the greatest common divisor by subtractions and shifts (J. Stein, 1967)."""
    shift = ctz(a | b)
    if a == 0 or b == 0:
        return a | b
    a = a >> ctz(a)
    while b != 0:
        b = b >> ctz(b)
        a, b = min(a, b), max(a, b) - min(a, b)
    return a << shift
