"""Compile-time arithmetic has limits, so that no source text takes all memory or forever."""

from __future__ import annotations

import linecache
from types import FunctionType

import pytest

from amdjit import i32
from amdjit.diagnostics import CompileError
from amdjit.frontend import type_kernel
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from tests.frontend.typing_of_expressions import COMPILATION

HUGE = [
    "2**2**40",
    "1 << 2**40",
    "(2**4000)**4000",
    "'text' * 2**33",
    "2**33 * (1, 2)",
    "3**-2 + 1 % 0",
    "pow(7, 2**40)",
]


@pytest.mark.parametrize("text", HUGE)
def test_huge_constants_are_refused_immediately(text: str) -> None:
    source = f"def huge(a):\n    a[0] = {text}\n"
    file = f"<{text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found: dict[str, object] = {}
    exec(compile(source, file, "exec"), found)
    huge = found["huge"]
    assert isinstance(huge, FunctionType)
    with pytest.raises(CompileError):
        type_kernel(huge, (i32[:].resolved(),), COMPILATION, PYTHON_FUNCTIONS)
