"""Integer arithmetic that needs no instruction, since the right operand or both are constants.

before: `add i32 %x, 0`, `mul i32 6, 7`
after:  `%x`, `42`

LLVM's own IRBuilder folds these, but llvmlite's does not; unrolled loops are full of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from llvmlite import ir

from amdjit.lowering.types import constant_value, literal

__all__ = ["folded"]

_NEUTRAL: Mapping[str, int] = MappingProxyType(
    {
        "add": 0,
        "sub": 0,
        "or": 0,
        "xor": 0,
        "shl": 0,
        "lshr": 0,
        "ashr": 0,
        "mul": 1,
        "sdiv": 1,
        "udiv": 1,
    }
)
_EXACT: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "and": operator.and_,
        "or": operator.or_,
        "xor": operator.xor,
    }
)


def folded(name: str, left: Any, right: Any) -> Any:
    """Return the result of a two-operand instruction with a constant on the right, None if it is
    not known.

    Results wrap, which an instruction with no-wrap flags may do too.
    """
    number = constant_value(right) if isinstance(right.type, ir.IntType) else None
    if number is None:
        return None
    if _NEUTRAL.get(name) == number:
        return left
    known = constant_value(left)
    if known is None or name not in _EXACT:
        return None
    return literal(right.type, _EXACT[name](known, number))
