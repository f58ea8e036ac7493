"""V_CMP and V_CMPX: a bit of each lane."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.emulator.model.floats import is_class
from tests.emulator.model.operation import Op, op
from tests.emulator.model.values import Numbers

_INTEGER = {
    "lt": operator.lt, "eq": operator.eq, "le": operator.le,
    "gt": operator.gt, "ne": operator.ne, "ge": operator.ge,
}  # fmt: skip


def _unordered(x: Numbers, y: Numbers) -> Numbers:
    return np.isnan(x) | np.isnan(y)


def _differs(x: Numbers, y: Numbers) -> Numbers:
    return (x < y) | (x > y)


_FLOAT: dict[str, Callable[..., Any]] = {
    "lt": operator.lt,
    "eq": operator.eq,
    "le": operator.le,
    "gt": operator.gt,
    "lg": _differs,
    "ge": operator.ge,
    "o": lambda x, y: ~_unordered(x, y),
    "u": _unordered,
    "nge": lambda x, y: ~(x >= y),
    "nlg": lambda x, y: ~_differs(x, y),
    "ngt": lambda x, y: ~(x > y),
    "nle": lambda x, y: ~(x <= y),
    "neq": lambda x, y: ~(x == y),
    "nlt": lambda x, y: ~(x < y),
}


def float_predicates() -> dict[str, Callable[..., Any]]:
    """By the letters in the mnemonic."""
    return dict(_FLOAT)


def _table() -> dict[str, Op]:
    table: dict[str, Op] = {}
    for code in ("i16", "u16", "i32", "u32", "i64", "u64"):
        table.update(
            {
                f"{name}_{code}": op("mask", f"{code} {code}", test)
                for name, test in _INTEGER.items()
            }
        )
    for code, mask in (("f16", "b16"), ("f32", "b32"), ("f64", "b32")):
        table.update(
            {f"{name}_{code}": op("mask", f"{code} {code}", test) for name, test in _FLOAT.items()}
        )
        table[f"class_{code}"] = op("mask", f"{code} {mask}", is_class(code))
    return table


COMPARISONS: dict[str, Op] = {
    f"v_{verb}_{name}": entry for name, entry in _table().items() for verb in ("cmp", "cmpx")
}
