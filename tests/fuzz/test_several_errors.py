"""What is reported after a first error: never an error that is none, and never less than was
refused."""

from __future__ import annotations

import ast
import random
import warnings
from types import FunctionType
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from amdjit.diagnostics import CompileError
from amdjit.frontend import type_kernel
from amdjit.frontend.building.builder import FunctionBuilder
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.language.launch_numbers import PYTHON_FLOAT, PYTHON_INT
from amdjit.options import CompileOptions, named_target
from amdjit.types import Array, Type, i32
from tests.fuzz.program_types import PARAMETERS, PYTHON_NUMBERS
from tests.fuzz.programs import programs
from tests.fuzz.refusals import ARGUMENTS, random_functions
from tests.fuzz.running import KERNEL_NAMES, TABLES, define

COMPILATION = Compilation(CompileOptions(named_target("gfx1201")))
ARRAYS = tuple(Array(type, 1) for type in PARAMETERS)
NUMBERS = tuple(
    PYTHON_FLOAT if isinstance(number, float) else PYTHON_INT for number in PYTHON_NUMBERS.values()
)


def refusal(function: FunctionType, arguments: tuple[Type, ...]) -> CompileError | None:
    try:
        type_kernel(function, arguments, COMPILATION, PYTHON_FUNCTIONS)
    except CompileError as error:
        return error
    return None


def places(error: CompileError) -> list[tuple[str, str]]:
    return [(diagnostic.code, str(diagnostic.span)) for diagnostic in error.diagnostics]


def at_the_first_error(builder: FunctionBuilder, failure: CompileError) -> None:
    raise failure


class _Break(ast.NodeTransformer):
    """Replace some of a program's expressions by names that nothing defines."""

    def __init__(self, seed: int, count: int, total: int) -> None:
        self.chosen = set(random.Random(seed).sample(range(total), min(count, total)))
        self.number = -1

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and not isinstance(
            getattr(node, "ctx", None), (ast.Store, ast.Del)
        ):
            self.number += 1
            if self.number in self.chosen:
                return ast.copy_location(ast.Name(f"unknown_{self.number}", ast.Load()), node)
        return super().generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [
            self.visit(part) if isinstance(part, ast.FunctionDef) else part for part in node.body
        ]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        return node


def broken(source: str, seed: int, count: int) -> str:
    """Return a program in which `count` expressions are names that nothing defines."""
    total = sum(isinstance(node, ast.expr) for node in ast.walk(ast.parse(source)))
    return ast.unparse(_Break(seed, count, total).visit(ast.parse(source)))


def check_broken(source: str, seed: int, count: int) -> int:
    text = broken(source, seed, count)
    note(text)
    function = define(text, {**KERNEL_NAMES, **TABLES})["program"]
    error = refusal(function, (i32, i32, *ARRAYS, *ARRAYS, *NUMBERS))
    found = error.diagnostics if error else ()
    assert [d.title for d in found if d.code != "AJ0301" or "`unknown_" not in d.title] == []
    return len(found)


_SETTINGS = settings(
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)


@settings(_SETTINGS, max_examples=60)
@given(programs(), st.integers(0, 2**32), st.integers(1, 6))
def test_only_what_is_wrong_is_reported(source: str, seed: int, count: int) -> None:
    check_broken(source, seed, count)


@pytest.mark.exhaustive
@settings(_SETTINGS, max_examples=1500, derandomize=False)
@given(programs(), st.integers(0, 2**32), st.integers(1, 8))
def test_only_what_is_wrong_is_reported_in_thousands(source: str, seed: int, count: int) -> None:
    check_broken(source, seed, count)


def check_random_functions(seed: int, count: int) -> tuple[int, int]:
    """Compare with typing that ends at the first error; return the numbers of refused functions and
    of their errors."""
    refused = errors = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, function in enumerate(random_functions(seed, count)):
            kinds = ARGUMENTS[number % len(ARGUMENTS)][: function.__code__.co_argcount]
            found = refusal(function, kinds)
            with mock.patch.object(FunctionBuilder, "refuse", at_the_first_error):
                first = refusal(function, kinds)
            assert (found is None) == (first is None)
            if found is not None and first is not None:
                assert places(first)[0] in places(found)
                assert type(found) is found.diagnostics[0].kind.exception
                refused, errors = refused + 1, errors + len(found.diagnostics)
    return refused, errors


def test_what_was_refused_once_stays_refused() -> None:
    refused, errors = check_random_functions(1, 300)
    assert refused > 200
    assert errors > 1.3 * refused


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2, 12))
def test_what_was_refused_once_stays_refused_in_thousands(seed: int) -> None:
    check_random_functions(seed, 4000)
