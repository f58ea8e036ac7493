"""What instructions of the vector unit return, and how well that is known: one row for each.

The approximate instructions follow the rules of `isa.approximations`, which the emulator follows,
too. A reference is for MODE's defaults and without modifiers: subnormal halves are numbers, and
NaNs become quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amdjit.intrinsics.models.certainty import Certainty, Known
from amdjit.late import late
from amdjit.target import DEFAULT_TARGET, Target, read_target

if TYPE_CHECKING:
    from amdjit.isa import approximations
else:
    approximations = late("amdjit.isa.approximations")

__all__ = ["ROWS", "certainty", "known", "known_rows", "reference"]


@dataclass(frozen=True, slots=True)
class Row:
    """An instruction with one operand."""

    dtype: type[np.floating[Any]]
    """Of the operand and of the result."""
    compute: Callable[[NDArray[Any]], NDArray[Any]]
    """From bits to bits."""
    captured: Mapping[str, Known]
    """What is known, by the processor whose results are published."""
    otherwise: Known
    """What is known of other processors."""
    since: tuple[int, int, int] = (0, 0, 0)
    """The first ISA version that has it."""


_ROCJITSU = "ROCm/rocm-systems, rocjitsu's"
_ELSEWHERE = Known("rule", "the rule of gfx1201", "results of a GPU")
_DIGESTS = Known("measured", f"{_ROCJITSU} digests")
_CAPTURED = {"gfx1201": _DIGESTS, "gfx1100": replace(_DIGESTS, open="modifiers and MODE")}
_FEW = Known("measured", f"{_ROCJITSU} single results", "most of the domain")
_CIRCLE = {"gfx1201": _FEW, "gfx1100": _FEW}
_HALVES = {"gfx1201": Known("measured", f"{_ROCJITSU} digests of all halves")}
_SCALAR = {"gfx1201": Known("measured", f"{_ROCJITSU} captures: the bits of the vector form")}
_DOUBLES = Known("model", "rounded to nearest, of `v_rsq_f64` the root, too", "bits")
_TANH = Known("model", "rounded to nearest", "bits; subnormal numbers")


def _single(name: str, bits: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return approximations.of_bits(approximations.SINGLE_RULES[name], bits)


def _half(name: str, bits: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the float of the same rule, rounded once."""
    wide = bits.view(np.float16).astype(np.float32).view(np.uint32)
    if name == "exp":
        rule = approximations.power_of_two_half
        return approximations.of_bits(rule, wide).astype(np.uint16)
    with np.errstate(all="ignore"):
        return _single(name, wide).view(np.float32).astype(np.float16).view(np.uint16)


def _rounded(
    compute: Callable[[NDArray[Any]], NDArray[Any]], dtype: type[Any], bits: NDArray[Any]
) -> NDArray[Any]:
    """Compute in f64. A NaN of the operand is made quiet; that of numbers is negative."""
    quiet = np.array(np.nan, dtype).view(bits.dtype)
    x = bits.view(dtype)
    with np.errstate(all="ignore"):
        result = compute(x.astype(np.float64)).astype(dtype)
    invalid = quiet | bits.dtype.type(1 << 8 * bits.itemsize - 1)
    found = np.where(np.isnan(result), invalid, result.view(bits.dtype))
    return np.where(np.isnan(x), bits | quiet, found)


def _rows() -> Iterator[tuple[str, Row]]:
    for name in ("exp", "log", "rcp", "rsq", "sqrt", "sin", "cos"):
        captured = _CIRCLE if name in ("sin", "cos") else _CAPTURED
        single = Row(np.float32, partial(_single, name), captured, _ELSEWHERE)
        half = Row(np.float16, partial(_half, name), _HALVES, _ELSEWHERE)
        yield f"v_{name}_f32", single
        yield f"v_{name}_f16", half
        if name not in ("sin", "cos"):
            for kind, row in (("f32", single), ("f16", half)):
                yield f"v_s_{name}_{kind}", replace(row, captured=_SCALAR, since=(12, 0, 0))
        if name == "rcp":
            yield "v_rcp_iflag_f32", single
    for name, double in _OF_DOUBLES.items():
        yield name, Row(np.float64, partial(_rounded, double, np.float64), {}, _DOUBLES)
    for dtype, kind in ((np.float32, "f32"), (np.float16, "f16")):
        compute = partial(_rounded, np.tanh, dtype)
        yield f"v_tanh_{kind}", Row(dtype, compute, {}, _TANH, since=(12, 5, 0))


_OF_DOUBLES: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "v_rcp_f64": lambda x: 1 / x,
    "v_rsq_f64": lambda x: 1 / np.sqrt(x),
    "v_sqrt_f64": np.sqrt,
}

ROWS: Mapping[str, Row] = MappingProxyType(dict(_rows()))


def certainty(instruction: str, target: str | None = None) -> Certainty:
    """Return how well the results of an instruction are known to be a GPU's, bit for bit:
    "measured", "rule" or "model".

    instruction: its name in AMD's assembler, such as "v_log_f32". target: the processor, such as
    "gfx942"; without it, gfx1201. Raises ValueError for instructions that the processor lacks or
    of which nothing is said here.
    """
    return known(instruction, target).certainty


def known(instruction: str, target: str | None = None) -> Known:
    """Return what is known about an instruction. Raises ValueError like `certainty`."""
    row, processor = _row(instruction, target)
    return row.captured.get(processor.name, row.otherwise)


def known_rows(target: str) -> Mapping[str, Known]:
    """Return what is known about each instruction that a processor has."""
    isa = read_target(target).isa
    return {name: known(name, target) for name, row in ROWS.items() if isa >= row.since}


def reference(instruction: str, array: Any, target: str | None = None) -> NDArray[Any]:
    """Return what an instruction returns for each element, as an array of the same shape.

    array: numbers, which are converted to the operand's type; or its bits as unsigned integers of
    the same width, as which the results are given, too. MODE is taken to have its defaults:
    subnormal halves are numbers, and NaNs become quiet. `certainty(instruction, target)` says how
    well this is known to be a GPU's result. Raises ValueError like `certainty`, and TypeError for
    complex numbers.
    """
    row, _ = _row(instruction, target)
    bits = np.dtype(f"u{np.dtype(row.dtype).itemsize}")
    given = np.asarray(array)
    if given.dtype.kind == "c":
        raise TypeError(f"{instruction} has real operands, but the array is {given.dtype}")
    are_bits = given.dtype.kind == "u" and given.dtype.itemsize == bits.itemsize
    given = given.astype(bits if are_bits else row.dtype)
    found = row.compute(np.ascontiguousarray(given).reshape(-1).view(bits))
    return np.ascontiguousarray(found, bits).view(given.dtype).reshape(given.shape)


def _row(instruction: str, target: str | None) -> tuple[Row, Target]:
    processor = read_target(target or DEFAULT_TARGET)
    row = ROWS.get(instruction)
    if row is not None and processor.isa >= row.since:
        return row, processor
    there = [name for name, each in ROWS.items() if processor.isa >= each.since]
    near = get_close_matches(instruction.lower(), there, 3)
    remedy = f"did you mean {', '.join(near)}?" if near else "such as v_log_f32"
    raise ValueError(
        f"{instruction!r} is not an approximate instruction of {processor.name}: {remedy}"
    )
