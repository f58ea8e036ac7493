"""Random numbers in kernels: xoroshiro128+ with a state for each work-item, and Philox, which has
no state.

xoroshiro128+ has the names and the results of `numba.cuda.random`: `states` is an array of
`amdjit.random.xoroshiro128p_dtype` that `amdjit.random.create_xoroshiro128p_states` has made.
Philox turns a counter and a key into random words, 4x32-10 as Random123, cuRAND and rocRAND have
it, 4x64-10 as NumPy has it.

Sources: Blackman and Vigna, xoroshiro128plus.c (2016), https://prng.di.unimi.it; Salmon, Moraes,
Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011); numba-cuda,
`numba/cuda/random.py` (2025), for the order of the operations.
"""

from __future__ import annotations

import amdjit.intrinsics.math as functions
from amdjit.declarations import device_function
from amdjit.intrinsics.numbers.integers import mulhi
from amdjit.types import f32, f64, u32, u64

__all__ = [
    "normal_pair_float32",
    "normal_pair_float64",
    "philox4x32",
    "philox4x64",
    "uniform_float32",
    "uniform_float64",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

# The polynomial of 2**64 steps: xoroshiro128plus.c, `jump`.
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
_TWO_PI = 6.283185307179586
# Philox's multipliers and the steps of its key: Random123, philox.h.
_MULTIPLIERS_32, _STEPS_32 = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_MULTIPLIERS_64 = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_STEPS_64 = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


@device_function
def _rotated(x, count):
    return (x << u64(count)) | (x >> u64(64 - count))


@device_function
def _stepped(s0, s1):
    """Return the state after this one."""
    mixed = s1 ^ s0
    return _rotated(s0, 55) ^ mixed ^ (mixed << u64(14)), _rotated(mixed, 36)


@device_function
def xoroshiro128p_next(states, index):
    """Return the next random u64, and advance `states[index]`."""
    s0, s1 = states[index]["s0"], states[index]["s1"]
    result = s0 + s1
    states[index] = _stepped(s0, s1)
    return result


@device_function
def xoroshiro128p_jump(states, index):
    """Advance `states[index]` by 2**64 steps."""
    s0, s1 = states[index]["s0"], states[index]["s1"]
    sum0, sum1 = u64(0), u64(0)
    for bit in range(128):
        word = u64(_JUMP[0]) if bit < 64 else u64(_JUMP[1])
        if (word >> u64(bit & 63)) & u64(1) != 0:
            sum0 ^= s0
            sum1 ^= s1
        s0, s1 = _stepped(s0, s1)
    states[index] = sum0, sum1


@device_function
def xoroshiro128p_uniform_float32(states, index):
    """Return an f32 from 0 to 1, and advance `states[index]`.

    It is the f64 of `xoroshiro128p_uniform_float64` rounded to nearest, as in Numba, so that one of
    2**25 numbers is 1.0.
    """
    return f32(uniform_float64(xoroshiro128p_next(states, index)))


@device_function
def xoroshiro128p_uniform_float64(states, index):
    """Return an f64 from 0 up to and without 1, and advance `states[index]`."""
    return uniform_float64(xoroshiro128p_next(states, index))


@device_function
def xoroshiro128p_normal_float32(states, index):
    """Return a normally distributed f32 (mean 0, deviation 1), and advance `states[index]` by two
    steps.

    The transform of Box and Muller with the logarithm and the cosine of f32, as in Numba; a first
    uniform number of 0 gives an infinity.
    """
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return functions.sqrt(f32(-2) * functions.log(u1)) * functions.cos(f32(_TWO_PI) * u2)


@device_function
def xoroshiro128p_normal_float64(states, index):
    """Return a normally distributed f64 (mean 0, deviation 1), and advance `states[index]` by two
    steps.

    As Numba computes it: from two uniform numbers in f32 and the logarithm of f32, with the rest in
    f64. `normal_pair_float64` has all bits of an f64.
    """
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    radius = functions.sqrt(f64(-2) * f64(functions.log(u1)))
    return radius * functions.cos(f64(_TWO_PI) * f64(u2))


@device_function
def uniform_float32(word):
    """Return an f32 from 0 up to and without 1 from a random u32: its upper 24 bits.

    NumPy's `Generator.random(dtype=float32)` does the same.
    """
    return f32(u32(word) >> u32(8)) * f32(2.0**-24)


@device_function
def uniform_float64(word):
    """Return an f64 from 0 up to and without 1 from a random u64: its upper 53 bits.

    NumPy's `Generator.random()` does the same.
    """
    return f64(u64(word) >> u64(11)) * f64(2.0**-53)


@device_function
def normal_pair_float32(first, second):
    """Return two independent normally distributed f32 (mean 0, deviation 1) from two random u32.

    The transform of Box and Muller; `first` gives the radius, which is at most 5.77.
    """
    radius = functions.sqrt(f32(-2) * functions.log(f32(1) - uniform_float32(first)))
    sine, cosine = functions.sincos(f32(_TWO_PI) * uniform_float32(second))
    return radius * cosine, radius * sine


@device_function
def normal_pair_float64(first, second):
    """Return two independent normally distributed f64 (mean 0, deviation 1) from two random u64.

    The transform of Box and Muller; `first` gives the radius, which is at most 8.58.
    """
    radius = functions.sqrt(f64(-2) * functions.log(f64(1) - uniform_float64(first)))
    angle = f64(_TWO_PI) * uniform_float64(second)
    return radius * functions.cos(angle), radius * functions.sin(angle)


@device_function
def philox4x32(counter, key):
    """Return four random u32 from a counter of four u32 and a key of two: Philox 4x32-10.

    Equal arguments give equal words; another counter or key gives others. cuRAND and rocRAND use
    the counter (offset // 4, (offset // 4) >> 32, subsequence, subsequence >> 32) and the key
    (seed, seed >> 32), each truncated to 32 bits.
    """
    c0, c1, c2, c3 = u32(counter[0]), u32(counter[1]), u32(counter[2]), u32(counter[3])
    k0, k1 = u32(key[0]), u32(key[1])
    a, b = u32(_MULTIPLIERS_32[0]), u32(_MULTIPLIERS_32[1])
    for _ in range(10):
        high0, low0, high1, low1 = mulhi(a, c0), a * c0, mulhi(b, c2), b * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 += u32(_STEPS_32[0])
        k1 += u32(_STEPS_32[1])
    return c0, c1, c2, c3


@device_function
def philox4x64(counter, key):
    """Return four random u64 from a counter of four u64 and a key of two: Philox 4x64-10.

    `numpy.random.Philox(counter=c, key=k)` adds 1 to its counter before each four words.
    """
    c0, c1, c2, c3 = u64(counter[0]), u64(counter[1]), u64(counter[2]), u64(counter[3])
    k0, k1 = u64(key[0]), u64(key[1])
    a, b = u64(_MULTIPLIERS_64[0]), u64(_MULTIPLIERS_64[1])
    for _ in range(10):
        high0, low0, high1, low1 = mulhi(a, c0), a * c0, mulhi(b, c2), b * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 += u64(_STEPS_64[0])
        k1 += u64(_STEPS_64[1])
    return c0, c1, c2, c3
