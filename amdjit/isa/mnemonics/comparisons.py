"""Conditions of comparisons, by the word in their names."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["COMPARISONS"]

# RDNA 4 ISA, 16.9: a comparison with a NaN is false; those with n in their names are then true.
COMPARISONS: Mapping[str, str] = {
    "lt": "{a} < {b}",
    "eq": "{a} == {b}",
    "le": "{a} <= {b}",
    "gt": "{a} > {b}",
    "ge": "{a} >= {b}",
    "ne": "{a} != {b}",
    "lg": "{a} != {b}, and neither is NaN,",
    "o": "neither {a} nor {b} is NaN",
    "u": "{a} or {b} is NaN",
    "nge": "not {a} >= {b} (true for NaN)",
    "nlg": "{a} == {b} or one is NaN",
    "ngt": "not {a} > {b} (true for NaN)",
    "nle": "not {a} <= {b} (true for NaN)",
    "neq": "{a} != {b} or one is NaN",
    "nlt": "not {a} < {b} (true for NaN)",
}
