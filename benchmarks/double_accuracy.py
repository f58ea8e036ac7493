"""Measures how far the functions of `amdjit.intrinsics.math` in f64 are from the true values, on
the emulator.

    python benchmarks/double_accuracy.py             2**24 inputs of every function
    python benchmarks/double_accuracy.py exp log     2**24 inputs of these functions
    python benchmarks/double_accuracy.py --stale     2**24 inputs of those that changed since then

The reference is libquadmath (gcc's, 113 bits); mpmath confirms the largest error. It writes
docs/math_accuracy_f64.json, from which docs/generate.py makes a table of docs/reference/math.md.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import math
import pkgutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from double_references import REFERENCES, Reference
from math_against_ocml import instructions_of_f64
from math_sources import fingerprint

import amdjit
from amdjit.declarations import DeviceFunction
from amdjit.intrinsics import math as real
from amdjit.intrinsics.maths import doubles

RESULT = Path(__file__).parents[1] / "docs" / "math_accuracy_f64.json"
INPUTS = 1 << 24
Doubles = np.ndarray[Any, np.dtype[np.float64]]
BATCH = 1 << 20


def kernel_of(name: str) -> amdjit.Kernel:
    """Return a kernel that computes the function for each element."""
    function = getattr(real, name)
    if REFERENCES[name].arguments == 1:

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


def computed(name: str, *arguments: Doubles) -> Doubles:
    """Return the results of the function on the current device."""
    out = np.empty_like(arguments[0])
    kernel_of(name)[-(-out.size // 256), 256](*arguments, out)
    return out


@cache
def evaluated(name: str) -> DeviceFunction:
    """Return the device function of f64 that has the name in one of the modules of `doubles`."""
    for module in pkgutil.iter_modules(doubles.__path__):
        found = importlib.import_module(f"{doubles.__name__}.{module.name}")
        if name in found.__all__ and isinstance(getattr(found, name), DeviceFunction):
            return getattr(found, name)
    raise KeyError(name)


SPECIAL = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 5e-324, 2.0**-1022, 1.7976931348623157e308, math.inf])
SPECIAL = np.concatenate([SPECIAL, -SPECIAL, [math.nan]])


def edges(reference: Reference) -> Doubles:
    """Return numbers at which something may change, with their neighbours: special ones, powers of
    2 and 10, small whole and half numbers, multiples of pi / 4 and log(2) / 2."""
    powers = np.ldexp(1.0, [*range(-1074, -1018, 3), *range(-70, 70), *range(900, 1024, 7)])
    tens = 10.0 ** np.arange(-20, 23)
    small = np.concatenate([np.arange(0.5, 40, 0.5), np.arange(1, 40) * math.pi / 4])
    small = np.concatenate([small, np.arange(1, 20) * (math.log(2) / 2), reference.edges])
    middle = np.concatenate([powers, tens, small, SPECIAL[SPECIAL == SPECIAL]])
    with np.errstate(over="ignore"):
        beside = [middle, np.nextafter(middle, math.inf), np.nextafter(middle, 0)]
    both = np.unique(np.concatenate([*beside, *(-each for each in beside)]).view(np.uint64))
    return np.concatenate([SPECIAL, both.view(np.float64)])


def stratified(rng: np.random.Generator, count: int) -> Doubles:
    """Return random numbers in which all signs and exponents are equally frequent."""
    upper = rng.integers(0, 1 << 12, count, dtype=np.uint64) << np.uint64(52)
    return (upper | rng.integers(0, 1 << 52, count, dtype=np.uint64)).view(np.float64)


def inputs(name: str, count: int, seed: int) -> tuple[Doubles, ...]:
    """Return random inputs: of all exponents, of those near 0, and from each of the function's
    intervals."""
    reference, rng = REFERENCES[name], np.random.default_rng(seed)
    share = count // (2 + len(reference.intervals))
    columns = []
    for argument in range(reference.arguments):
        parts = [
            stratified(rng, share),
            rng.normal(size=share) * 2.0 ** rng.integers(-30, 8, share),
        ]
        for interval in reference.intervals:
            low, high = interval[argument] if isinstance(interval[0], tuple) else interval
            parts.append(rng.uniform(low, high, share))
        columns.append(np.concatenate(parts)[:count])
    return tuple(np.resize(column, count) for column in columns)


def edge_inputs(name: str, limit: int = 1 << 20, seed: int = 0) -> tuple[Doubles, ...]:
    """Return the edges, or pairs of them for two numbers: all if there are at most `limit`,
    otherwise those of special numbers and random ones."""
    reference, rng = REFERENCES[name], np.random.default_rng(seed)
    side = edges(reference)
    if reference.arguments == 1:
        return (side,)
    if side.size**2 > limit:
        pairs = rng.integers(0, side.size, (2, limit - SPECIAL.size**2))
        return tuple(
            np.concatenate([special, side[pair]])
            for special, pair in zip(_all_pairs(SPECIAL), pairs, strict=True)
        )
    return _all_pairs(side)


def _all_pairs(side: Doubles) -> tuple[Doubles, Doubles]:
    return np.repeat(side, side.size), np.tile(side, side.size)


def exact_errors(name: str, found: Doubles, *arguments: Doubles) -> Doubles:
    """Return distances from mpmath's values in units in the last place of f64; infinite if NaN, an
    infinity or the sign of a zero is wrong."""
    function, least = REFERENCES[name].exact, REFERENCES[name].least
    assert function is not None
    with mpmath.workprec(200):
        errors = [
            _exact_error(ours, function(*values), least)
            for ours, *values in zip(found.tolist(), *(a.tolist() for a in arguments), strict=True)
        ]
    return np.array(errors)


def _exact_error(found: float, true: Any, least: float) -> float:
    if true is None:
        return 0.0
    true = mpmath.mpf(true)
    nearest = float(true)
    if math.isnan(nearest) or math.isnan(found):
        return 0.0 if math.isnan(nearest) and math.isnan(found) else math.inf
    if found == nearest and (math.isinf(found) or not mpmath.isfinite(true)):
        return 0.0
    if not mpmath.isfinite(true):
        return math.inf
    value = math.copysign(1, found) * mpmath.ldexp(1, 1024) if math.isinf(found) else found
    exponent = mpmath.frexp(true)[1] if true else -1021
    unit = max(exponent, math.frexp(least)[1] if least else -1021, -1021) - 53
    return float(abs(mpmath.mpf(value) - true) * mpmath.ldexp(1, -unit))


class Loops:
    """The loops of double_distance.c for the references, compiled for the host's processor."""

    def __init__(self) -> None:
        source = Path(__file__).with_name("double_distance.c").read_text()
        rows = "\n".join(
            f"EACH({name}, {each.quad}, {each.least!r})" for name, each in REFERENCES.items()
        )
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "loops.c").write_text(source + rows)
            command = ["gcc", "-O2", "-march=native", "-shared", "-fPIC", f"{folder}/loops.c"]
            subprocess.run([*command, "-o", f"{folder}/loops.so", "-lquadmath", "-lm"], check=True)
            self._library = ctypes.CDLL(f"{folder}/loops.so")

    def measure(self, name: str, found: Doubles, *arguments: Doubles) -> tuple[float, int, int]:
        """Return the largest distance, its index, and how many are not the nearest f64."""
        place, misrounded = ctypes.c_size_t(), ctypes.c_size_t()
        function = getattr(self._library, f"measure_{name}")
        function.restype = ctypes.c_double
        addresses = (
            array.ctypes.data_as(ctypes.c_void_p) for array in (arguments[0], arguments[-1], found)
        )
        size = ctypes.c_size_t(found.size)
        largest = function(*addresses, size, ctypes.byref(place), ctypes.byref(misrounded))
        return float(largest), place.value, misrounded.value


def batches(name: str, count: int) -> Iterator[tuple[Doubles, ...]]:
    """Yield the edges, then `count` random inputs."""
    yield edge_inputs(name)
    for seed in range(-(-count // BATCH)):
        yield inputs(name, min(BATCH, count), seed)


def measure(name: str, count: int, loops: Loops) -> dict[str, Any]:
    """Return the largest error of a function, where it occurs, and what was measured."""
    worst, place, measured, misrounded, start = -1.0, (0.0,), 0, 0, time.process_time()
    kernel = kernel_of(name)
    for arguments in batches(name, count):
        found = np.empty_like(arguments[0])
        kernel[-(-found.size // 256), 256](*arguments, found)
        largest, index, wrong = loops.measure(name, found, *arguments)
        if largest > worst:
            worst, place = largest, tuple(float(argument[index]) for argument in arguments)
        measured += found.size
        misrounded += wrong
    worst = confirmed(name, worst, place)
    at = ", ".join(map(repr, place))
    print(
        f"{name:10} {worst:.4f} ulp at {at}, {misrounded} misrounded of {measured}, "
        f"{time.process_time() - start:.0f} s",
        flush=True,
    )
    row = {"ulp": worst, "at": at, "inputs": measured, "misrounded": misrounded}
    return (
        row
        | {"source": fingerprint(evaluated(name), is_single=False)}
        | instructions_of_f64(name, len(arguments))
    )


def confirmed(name: str, worst: float, place: tuple[float, ...]) -> float:
    """Return the largest error by mpmath, which must agree with libquadmath."""
    if REFERENCES[name].exact is None or not math.isfinite(worst):
        return worst
    columns = tuple(np.array([each]) for each in place)
    exactly = float(exact_errors(name, computed(name, *columns), *columns)[0])
    assert abs(exactly - worst) < 1e-3, f"{name}({place}): {worst}, mpmath says {exactly}"
    return exactly


def stale(known: dict[str, Any]) -> list[str]:
    """Return the functions whose evaluation changed since they were measured."""
    return [
        name
        for name in REFERENCES
        if known.get(name, {}).get("source") != fingerprint(evaluated(name), is_single=False)
    ]


def main() -> None:
    """Measure the functions that the command line names, or all, and write the results beside the
    earlier ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("functions", nargs="*", help="names; none: every function")
    parser.add_argument("--stale", action="store_true", help="what has changed")
    parser.add_argument("--inputs", type=int, default=INPUTS, help="how many random inputs")
    chosen = parser.parse_args()
    loops = Loops()
    known = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for name in stale(known) if chosen.stale else chosen.functions or REFERENCES:
        row = measure(name, chosen.inputs, loops)
        known = json.loads(RESULT.read_text()) if RESULT.exists() else {}
        RESULT.write_text(json.dumps(known | {name: row}, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
