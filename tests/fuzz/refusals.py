"""Compile functions that were not written as kernels, in a process of its own: `python refusals.py
KIND ARGUMENT...`.

Before each function its name is printed, so that a process that dies tells where. Whatever is
neither compiled nor refused with a CompileError or LaunchError is printed as UNEXPECTED.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import linecache
import random
import sys
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import amdjit
from amdjit import f32, f64, i32, i64
from amdjit.diagnostics import CompileError, LaunchError

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fuzz.random_source import random_function

ARGUMENTS = (
    (f32[:], i32, i32[:], f32, f64[:, :], i64),
    (i32, f32, i64, f64),
    (f32[:], i32, i32[:], f32),
)


def functions_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """Yield a module's own functions and methods."""
    for value in list(vars(module).values()):
        inner = [value, *vars(value).values()] if inspect.isclass(value) else [value]
        for candidate in inner:
            function = getattr(candidate, "__func__", candidate)
            if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
                yield inspect.unwrap(function)


def try_to_compile(
    function: types.FunctionType, kinds: tuple[Any, ...], outcomes: Counter[str]
) -> None:
    """Compile with argument types of one of the rows, as many as the function has parameters."""
    print(f"{function.__module__}.{function.__qualname__}", flush=True)
    try:
        kernel = amdjit.kernel(function)
        count = len(kernel.parameter_names)
        kernel.compile(*itertools.islice(itertools.cycle(kinds), count))
        outcomes["compiled"] += 1
    except (CompileError, LaunchError) as error:
        outcomes[type(error).__name__] += 1
    except Exception:
        outcomes["unexpected"] += 1
        print("UNEXPECTED", traceback.format_exc(), flush=True)


def random_functions(seed: int, count: int) -> Iterator[types.FunctionType]:
    """Yield functions of random source that Python itself accepts."""
    names = {name: getattr(amdjit, name) for name in amdjit.__all__}
    for number in range(count):
        chooser = random.Random(seed * 1_000_003 + number)
        source = random_function(chooser)
        file = f"<random {seed} {number}>"
        found = dict(names)
        try:
            exec(compile(source, file, "exec"), found)
        except (SyntaxError, RecursionError, MemoryError):
            continue
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        function = found["random_function"]
        assert isinstance(function, types.FunctionType)
        function.__qualname__ = f"{file}"
        yield function


def main(kind: str, *arguments: str) -> None:
    """KIND is `modules` with the number of the first function, the step to the next, and names, or
    `random` with a seed and a count."""
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    if kind == "modules":
        first, step, *names = arguments
        every = (f for name in names for f in functions_of(importlib.import_module(name)))
        found = itertools.islice(every, int(first), None, int(step))
    else:
        found = random_functions(int(arguments[0]), int(arguments[1]))
    for number, function in enumerate(found):
        try_to_compile(function, ARGUMENTS[number % len(ARGUMENTS)], outcomes)
    print("OUTCOMES", dict(outcomes), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
