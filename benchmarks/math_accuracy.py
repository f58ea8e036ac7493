"""Measures how far the functions of `amdjit.intrinsics.math` in f32 are from the true values, on
the emulator.

    python benchmarks/math_accuracy.py             2**24 inputs of every function, of all exponents
    python benchmarks/math_accuracy.py --all sin   all 2**32 inputs of one (1 to 4 minutes)
    python benchmarks/math_accuracy.py --stale     all inputs of what changed since it was measured

The reference is float64: NumPy's functions, or the C library's (called through `math`, and through
gcc's code for many inputs). It writes docs/math_accuracy.json, from which docs/generate.py makes
the table of docs/reference/math.md.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from math_against_ocml import instructions
from math_sources import fingerprint

import amdjit
from amdjit.intrinsics import math as real

RESULT = Path(__file__).parents[1] / "docs" / "math_accuracy.json"
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Singles = np.ndarray[Any, np.dtype[np.float32]]
BATCH = 1 << 22


def each(function: Callable[..., float]) -> Callable[..., Doubles]:
    """Return a function of Python's `math` on arrays, with C's results where Python raises."""

    def of_one(*values: float) -> float:
        try:
            return function(*values)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return np.vectorize(of_one, otypes=[np.float64])


REFERENCES: dict[str, Callable[..., Doubles]] = {
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": each(math.erf),
    "erfc": each(math.erfc),
    "tgamma": lambda x: np.where(x == 0, 1 / x, each(math.gamma)(x)),
    "lgamma": lambda x: np.where((x <= 0) & (x == np.floor(x)), math.inf, each(math.lgamma)(x)),
}
"""Functions of one number, in float64."""

REFERENCES_OF_TWO: dict[str, Callable[..., Doubles]] = {
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "power": np.power,
    "fmod": np.fmod,
    "remainder": each(math.remainder),
    "copysign": np.copysign,
    "nextafter": lambda x, y: np.nextafter(x.astype(np.float32), y.astype(np.float32)).astype(
        np.float64
    ),
}
"""Functions of two numbers, in float64."""


def kernel_of(name: str) -> amdjit.Kernel:
    """Return a kernel that computes the function for each element."""
    function = getattr(real, name)
    if name in REFERENCES:

        @amdjit.kernel
        def of_one(x, out):
            i = amdjit.grid(1)
            if i < x.size:
                out[i] = function(x[i])

        return of_one

    @amdjit.kernel
    def of_two(x, y, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i], y[i])

    return of_two


def computed(name: str, *arguments: Singles) -> Singles:
    """Return the results of the function on the current device."""
    out = np.empty_like(arguments[0])
    kernel_of(name)[-(-out.size // 256), 256](*arguments, out)
    return out


def expected(name: str, *arguments: Singles) -> Doubles:
    """Return the true values, to the precision of float64."""
    with np.errstate(all="ignore"):
        return (REFERENCES | REFERENCES_OF_TWO)[name](
            *(argument.astype(np.float64) for argument in arguments)
        )


def errors_in_ulps(found: Singles, true: Doubles) -> Doubles:
    """Return distances in units in the last place of f32; infinite if NaN, an infinity or the sign
    of a zero is wrong."""
    with np.errstate(all="ignore"):
        nearest = true.astype(np.float32)
        unit = np.exp2(np.clip(np.floor(np.log2(np.abs(true))), -126, 127) - 23)
        # The next number after the largest one would be 2**128.
        value = np.where(
            np.isinf(found) & np.isfinite(true),
            np.copysign(2.0**128, found),
            found.astype(np.float64),
        )
        error = np.abs(value - true) / unit
    same = (np.isnan(found) & np.isnan(nearest)) | (found == nearest)
    error = np.where(same & ~(np.isfinite(nearest) & np.isfinite(true)), 0.0, error)
    wrong_zero = (true == 0) & (np.signbit(found) != np.signbit(true))
    return np.where(np.isnan(error) | wrong_zero, np.inf, error)


def stratified(count: int, seed: int = 0) -> Singles:
    """Return `count` numbers in which all signs and exponents are equally frequent, with random
    mantissas, and among them the special numbers."""
    rng = np.random.default_rng(seed)
    upper = np.arange(count, dtype=np.uint32) % 512 << 23
    numbers = (upper | rng.integers(0, 1 << 23, count, dtype=np.uint32)).view(np.float32)
    numbers[: len(SPECIAL)] = SPECIAL
    return numbers


SPECIAL = np.array(
    [
        0,
        0.25,
        0.5,
        1,
        1.5,
        2,
        3,
        10,
        1e-45,
        1.1754944e-38,
        3.4028235e38,
        2**24,
        1e8,
        88.72284,
        10.05,
        math.inf,
    ],
    np.float32,
)
SPECIAL = np.concatenate([SPECIAL, -SPECIAL, np.array([math.nan], np.float32)])


class Loops:
    """The loops of ulp_distance.c, compiled for the host's processor."""

    def __init__(self) -> None:
        source = Path(__file__).with_name("ulp_distance.c")
        with tempfile.TemporaryDirectory() as folder:
            command = [
                "gcc",
                "-O3",
                "-march=native",
                "-fno-math-errno",
                "-fno-trapping-math",
                "-shared",
                "-fPIC",
            ]
            subprocess.run(
                [*command, source, "-o", f"{folder}/loops.so", "-lmvec", "-lm"], check=True
            )
            self._library = ctypes.CDLL(f"{folder}/loops.so")
        self._library.measure.restype = ctypes.c_double
        self._true = np.empty(BATCH)

    def true(self, name: str, *arguments: Singles) -> Doubles:
        """Return the true values, to the precision of float64: C's for functions of one number,
        NumPy's for functions of two."""
        if name not in REFERENCES:
            return expected(name, *arguments)
        out = self._true[: arguments[0].size]
        getattr(self._library, f"each_{name}")(
            _address(arguments[0]), _address(out), ctypes.c_size_t(out.size)
        )
        return out

    def measure(self, found: Singles, true: Doubles) -> tuple[float, int, int]:
        """Return the largest distance, its index, and how many are not the nearest f32."""
        place, misrounded = ctypes.c_size_t(), ctypes.c_size_t()
        size = ctypes.c_size_t(found.size)
        largest = self._library.measure(
            _address(found), _address(true), size, ctypes.byref(place), ctypes.byref(misrounded)
        )
        return float(largest), place.value, misrounded.value


def _address(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def _batches(everything: bool) -> Iterator[tuple[Singles, ...]]:
    if everything:
        bits = np.arange(BATCH, dtype=np.uint32)
        for _ in range(0, 1 << 32, BATCH):
            yield (bits.view(np.float32),)
            bits += np.uint32(BATCH)
    else:
        for seed in range((1 << 24) // BATCH):
            yield (stratified(BATCH, seed),)


def edges() -> Singles:
    """Return 1024 numbers at which something may change: special ones, powers of 2, small whole and
    half numbers."""
    powers = np.ldexp(np.float32(1), np.arange(-149, 128, dtype=np.int32))
    middle = np.concatenate([powers, np.arange(0.5, 40, 0.5), SPECIAL]).astype(np.float32)
    beside = np.concatenate(
        [middle, np.nextafter(middle, np.float32(math.inf)), np.nextafter(middle, np.float32(0))]
    )
    beside = np.unique(np.concatenate([beside, -beside]).view(np.uint32))
    kept = np.random.default_rng(0).permutation(beside)[: 1024 - SPECIAL.size]
    return np.concatenate([SPECIAL, kept.view(np.float32)])


def _pairs() -> Iterator[tuple[Singles, ...]]:
    """Yield all pairs of edges, then other pairs: of any exponents, and near 0."""
    side = edges()
    yield (
        np.tile(np.repeat(side, side.size), BATCH // side.size**2),
        np.tile(side, BATCH // side.size),
    )
    for seed in range((1 << 24) // BATCH):
        rng = np.random.default_rng(seed)
        numbers = stratified(BATCH, seed)
        yield numbers, rng.permutation(numbers)
        yield tuple(
            (rng.normal(size=BATCH) * rng.choice([0.3, 1, 3, 20], BATCH)).astype(np.float32)
            for _ in range(2)
        )


def measure(name: str, everything: bool, loops: Loops) -> dict[str, Any]:
    """Return the largest error of a function, where it occurs, and what was measured."""
    worst, place, inputs, misrounded, start = -1.0, (0.0,), 0, 0, time.process_time()
    kernel, source = kernel_of(name), fingerprint(getattr(real, name))
    device = amdjit.to_device(np.empty(BATCH, np.float32))
    for arguments in _batches(everything) if name in REFERENCES else _pairs():
        kernel[BATCH // 256, 256](*arguments, device)
        largest, index, wrong = loops.measure(device.copy_to_host(), loops.true(name, *arguments))
        if largest > worst:
            worst, place = largest, tuple(float(argument[index]) for argument in arguments)
        inputs += arguments[0].size
        misrounded += wrong
    seconds = time.process_time() - start
    at = ", ".join(map(repr, place))
    print(
        f"{name:10} {worst:.4f} ulp at {at}, {misrounded} misrounded of {inputs}, {seconds:.0f} s",
        flush=True,
    )
    row = {
        "ulp": worst,
        "at": at,
        "inputs": inputs,
        "misrounded": misrounded,
        "seconds": round(seconds),
    }
    return row | {"source": source} | instructions(name, len(arguments))


def stale(known: dict[str, Any]) -> list[str]:
    """Return the functions whose evaluation changed since they were measured."""
    return [
        name
        for name in REFERENCES | REFERENCES_OF_TWO
        if known.get(name, {}).get("source") != fingerprint(getattr(real, name))
    ]


def main() -> None:
    """Measure the functions that the command line names, or all of them, and write the results in
    addition to the earlier ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("functions", nargs="*", help="names; none: every function")
    parser.add_argument(
        "--all", action="store_true", help="all 2**32 inputs of functions of one number"
    )
    parser.add_argument("--stale", action="store_true", help="all inputs of what has changed")
    chosen = parser.parse_args()
    loops = Loops()
    known = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    names = stale(known) if chosen.stale else chosen.functions or REFERENCES | REFERENCES_OF_TWO
    for name in names:
        row = measure(name, (chosen.all or chosen.stale) and name in REFERENCES, loops)
        known = json.loads(RESULT.read_text()) if RESULT.exists() else {}
        RESULT.write_text(json.dumps(known | {name: row}, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
