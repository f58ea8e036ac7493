"""The operators of the typed tree."""

from __future__ import annotations

from enum import Enum


class BinaryOperator(Enum):
    """Arithmetic on two values of the expression's own type, elementwise on vectors.

    Integers wrap. FLOOR_DIVIDE and MODULO round toward minus infinity as in Python, also on floats.
    SHIFT_LEFT by the width or more is 0; SHIFT_RIGHT then is 0 or, for a negative number, -1.
    """

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    FLOOR_DIVIDE = "//"
    MODULO = "%"
    POWER = "**"
    AND = "&"
    OR = "|"
    XOR = "^"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"
    MINIMUM = "min"
    MAXIMUM = "max"


class UnaryOperator(Enum):
    """NEGATE on numbers, INVERT on integers, NOT on booleans, ABSOLUTE on numbers."""

    NEGATE = "-"
    INVERT = "~"
    NOT = "not"
    ABSOLUTE = "abs"


class Comparison(Enum):
    """Comparisons of two values of one type. On floats they are ordered, but `!=` is true for
    NaN."""

    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
