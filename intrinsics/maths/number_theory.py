"""Python's functions of integers: powers, greatest common divisors, least common multiples, integer
square roots, factorials and counts of choices."""

from __future__ import annotations

from typing import Any

from amdjit.declarations import device_function
from amdjit.intrinsics.maths.roots_and_remainders import sqrt
from amdjit.intrinsics.numbers.integers import clz, ctz
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar, f32, f64, i8, i32, i64, u8, u16, u32, u64

__all__ = [
    "bit_length",
    "comb",
    "factorial",
    "gcd",
    "isqrt",
    "lcm",
    "perm",
    "power_of_integer",
]

_WIDE: Any = (i64, u64)
_UNSIGNED: Any = (u8, u16, u32, u64)
_WORDS: Any = (i32, u32)
_BYTES: Any = (i8, u8)


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
def lcm(a, b, c=None, d=None):
    """Return the least common multiple of two to four integers, in their type (its low bits, where
    it is larger)."""
    _only_integers("lcm", a, b, 1 if c is None else c, 1 if d is None else d)
    # A multiple by 1 would change the sign of one that is too large.
    result = _lcm(a, b)
    result = result if c is None else _lcm(result, c)
    return result if d is None else _lcm(result, d)


@device_function
def _lcm(a, b):
    divisor = _gcd(a, b)
    return abs(a) // divisor * abs(b) if divisor != 0 else divisor


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


@device_function
def power_of_integer(x, n, modulus=None):
    """Return x to the power n, its low bits, or modulo a number, as Python's `pow` does.

    If n is negative, the result is 1 over the power, rounded towards 0, and 0 for an x of 0.
    """
    if modulus is not None:
        return _modular_power(x, n, modulus)
    result, square, rest = type(x)(1), x, n
    while rest > 0:
        if rest & 1 != 0:
            result *= square
        rest >>= 1
        square *= square
    if n < 0:
        unit = x if n & 1 != 0 else type(x)(1)
        result = unit if x == 1 or x == -1 else type(x)(0)
    return result


@device_function
def _modular_power(x, n, modulus):
    _only_integers("pow", x, n, modulus)
    kind = type(x + modulus)
    if isinstance(kind(x), _UNSIGNED):
        return kind(_power_modulo(u64(x), n, u64(modulus)))
    size = u64(abs(i64(modulus)))
    rest = i64(_power_modulo(i64(x) % size, n, size))
    return kind(rest + i64(modulus) if modulus < 0 and rest != 0 else rest)


@device_function
def _power_modulo(x, n, modulus):
    result, square, rest = u64(1) % modulus, x % modulus, n
    while rest > 0:
        if rest & 1 != 0:
            result = _product_modulo(result, square, modulus)
        rest >>= 1
        square = _product_modulo(square, square, modulus)
    return result


@device_function
def _product_modulo(a, b, modulus):
    """Multiply by doubling where the product may have more than 64 bits; a and b are less than the
    modulus."""
    if modulus <= u64(1 << 32):
        return a * b % modulus
    total = u64(0)
    while b != 0:
        if b & 1 != 0:
            total = total - (modulus - a) if total >= modulus - a else total + a
        a = a - (modulus - a) if a >= modulus - a else a + a
        b >>= 1
    return total


@device_function
def bit_length(x):
    """Return the number of bits of the magnitude, without leading zeros, as Python's method of
    `int`."""
    size = x if isinstance(x, _UNSIGNED) else abs(x)
    if isinstance(x, _WIDE):
        return i32(64 - i32(clz(u64(size))))
    return i32(32 - i32(clz(u32(size) if isinstance(x, _WORDS) else u32(size) & _mask(x))))


@device_function
def _mask(x):
    return u32(0xFF) if isinstance(x, _BYTES) else u32(0xFFFF)


@device_function
def factorial(n):
    """Return the product of 1 to n, in the type of n (its low bits, where it is larger)."""
    _only_integers("factorial", n)
    result = type(n)(1)
    factor = type(n)(2)
    while factor <= n:
        result *= factor
        factor += type(n)(1)
    return result


@device_function
def perm(n, k):
    """Return the number of ways to arrange k of n things, in their type (its low bits, where it is
    larger); 0 if k is above n."""
    _only_integers("perm", n, k)
    kind = type(n + k)
    result, factor, rest = kind(1), kind(n), kind(k)
    while rest > 0:
        result *= factor
        factor -= kind(1)
        rest -= kind(1)
    return kind(0) if k > n else result


@device_function
def comb(n, k):
    """Return the number of ways to choose k of n things, in their type, which has to hold it; 0 if
    k is above n."""
    _only_integers("comb", n, k)
    kind = type(n + k)
    if k > n:
        return kind(0)
    rest = min(kind(k), kind(n) - kind(k))
    result, chosen = kind(1), kind(0)
    while chosen < rest:
        over, under = kind(n) - chosen, chosen + kind(1)
        common = _gcd(result, under)
        result = (result // common) * (over // (under // common))
        chosen += kind(1)
    return result
