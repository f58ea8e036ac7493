# ruff: noqa: F821, F841
"""The types that the front end gives to operators, with one small kernel for each operator."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from amdjit.diagnostics import TypeCheckError
from amdjit.frontend import type_kernel
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.options import CompileOptions, named_target
from amdjit.tree import nodes as tree
from amdjit.types import Layout, Scalar, Type

COMPILATION = Compilation(CompileOptions(named_target("gfx1201")))


def add(a, b):
    x = a[0] + b[0]


def subtract(a, b):
    x = a[0] - b[0]


def multiply(a, b):
    x = a[0] * b[0]


def floor_divide(a, b):
    x = a[0] // b[0]


def modulo(a, b):
    x = a[0] % b[0]


def divide(a, b):
    x = a[0] / b[0]


def bits(a, b):
    x = a[0] & b[0]


def shift(a, b):
    x = a[0] << b[0]


def less(a, b):
    x = a[0] < b[0]


def both(a, b):
    x = a[0] and b[0]


def least(a, b):
    x = min(a[0], b[0])


def store(a, b):
    b[0] = a[0]
    x = b[0]


def literal_one(a):
    x = 1 + a[0]


def literal_float(a):
    x = a[0] + 1.5


def literal_true(a):
    x = a[0] + True


def literal_large(a):
    x = a[0] + 2**40


def literal_million(a):
    x = a[0] + 1e6


def literal_negative(a):
    x = a[0] + -1


def unknown_name(a):
    x = a[0] + nowhere


KERNELS: dict[str, Callable[..., Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "//": floor_divide,
    "%": modulo,
    "/": divide,
    "&": bits,
    "<<": shift,
    "<": less,
    "and": both,
    "min": least,
    "store": store,
    "literal 1": literal_one,
    "literal 1.5": literal_float,
    "literal True": literal_true,
    "literal 2**40": literal_large,
    "literal 1e6": literal_million,
    "literal -1": literal_negative,
    "unknown name": unknown_name,
}


def type_of(operator: str, *elements: Scalar) -> Type | None:
    """Return the type of `x` in the operator's kernel over arrays of these elements; None if the
    types are refused."""
    function = KERNELS[operator]
    assert isinstance(function, FunctionType)
    arrays = tuple(element[:].resolved() for element in elements)
    assert all(array.layout is Layout.CONTIGUOUS for array in arrays)
    try:
        typed = type_kernel(function, arrays, COMPILATION, PYTHON_FUNCTIONS)
    except TypeCheckError:
        return None
    last = [
        statement for statement in typed.program.kernel.body if isinstance(statement, tree.Assign)
    ][-1]
    assert last.variable.name == "x"
    return last.variable.type
