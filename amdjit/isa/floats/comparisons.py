"""Comparisons by the ISA's names, and their predicates in LLVM."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.isa.arithmetic import Arithmetic, Value

# By the ISA's name; `n` is "not", which includes NaNs.
FLOAT_PREDICATES: Mapping[str, str] = {
    "lt": "olt",
    "eq": "oeq",
    "le": "ole",
    "gt": "ogt",
    "lg": "one",
    "ge": "oge",
    "o": "ord",
    "u": "uno",
    "nge": "ult",
    "nlg": "ueq",
    "ngt": "ule",
    "nle": "ugt",
    "neq": "une",
    "nlt": "uge",
}
INTEGER_PREDICATES = ("lt", "eq", "le", "gt", "ne", "ge")


def predicate_of(name: str, code: str) -> str:
    """Return LLVM's predicate for the ISA's comparison `name` of operands of type `code`."""
    if code[0] == "f":
        return FLOAT_PREDICATES[name]
    if name in ("eq", "ne"):
        return name
    return ("s" if code[0] == "i" else "u") + name


def compare(b: Arithmetic, predicate: str, left: Value, right: Value) -> Value:
    """Compare; half precision through single."""
    if "half" in left.type:
        left, right = (b.convert("fpext", v, "float") for v in (left, right))
    return b.compare(predicate, left, right)
