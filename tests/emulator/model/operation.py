"""What the tables say about one opcode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Op:
    """One opcode with a result in registers.

    sources: the operands' types in the order of the assembly text; `mask` is a bit of each lane.
    result: the type of the destination. compute: operands as numbers to the result as numbers
    (integers of any size: they wrap, or saturate under `clamp`); patterns for a result of several
    elements (`2xf16`). old: the destination is one more operand, the last. carry: (result, bit of
    each lane) is returned. ulps, absolute: what a float may be off. clamps: the integer result
    takes `clamp`. clamped: what comes of the result under `clamp`, where that is neither saturation
    nor [0, 1]. nans: which NaN comes out is known, too (`nans.py`).
    """

    sources: tuple[str, ...]
    result: str
    compute: Callable[..., Any]
    ulps: int = 0
    absolute: float = 0.0
    old: bool = False
    carry: bool = False
    clamps: bool = False
    clamped: Callable[[Any], Any] | None = None
    nans: bool = False
    known: Callable[..., Any] | None = None


def op(result: str, sources: str, compute: Callable[..., Any], **more: Any) -> Op:
    """Describe an opcode: `op("u32", "u32 u32", lambda x, y: x + y)`."""
    return Op(tuple(sources.split()), result, compute, **more)
