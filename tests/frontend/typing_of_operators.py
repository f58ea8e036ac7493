"""The result types of operators on operands of any type, including types that no array holds."""

from __future__ import annotations

import linecache
from functools import lru_cache
from types import FunctionType
from typing import Any

from amdjit.diagnostics import CompileError
from amdjit.frontend import type_kernel
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.options import CompileOptions, named_target
from amdjit.types import Type, boolean

COMPILATION = Compilation(CompileOptions(named_target("gfx1201")))


@lru_cache
def kernel_of(expression: str) -> FunctionType:
    """Make a kernel of `(a, b, c)` that calls a function which returns an expression of them."""
    file = f"<operator {expression}>"
    source = (
        f"def apply(a, b, c):\n    return {expression}\n\n\ndef run(a, b, c):\n    apply(a, b, c)\n"
    )
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    function = names["run"]
    assert isinstance(function, FunctionType)
    return function


def type_of_expression(expression: str, left: Type, right: Type) -> Type | None:
    """Return the type of an expression of `a`, `b` and a boolean `c`, None if it is refused."""
    try:
        typed = type_kernel(
            kernel_of(expression), (left, right, boolean), COMPILATION, PYTHON_FUNCTIONS
        )
    except CompileError:
        return None
    # What is known when compiling needs no function: here only the truth of tuples and comparisons
    # of unlike records.
    return typed.program.functions[-1].result if typed.program.functions else boolean
