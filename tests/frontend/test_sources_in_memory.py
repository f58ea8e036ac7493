"""Functions without a file: those of `exec`, of Python's prompt, of text that is piped into Python,
of doctests and templates. Their text is found where the program still has it."""

from __future__ import annotations

import doctest
import linecache
import os
import pty
import string
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import device_function, f32
from amdjit.diagnostics import UnsupportedSyntaxError
from amdjit.frontend.source.reading import read_source

MODULE_TEXT = "def of_the_module(x):\n    x[amdjit.grid(1)] += 7\n"
ROOT = Path(__file__).parents[2]


def made(text: str, name: str, **names: Any) -> Any:
    """Run a text, which the caller still has, and return what it defines."""
    scope = {"amdjit": amdjit, **names}
    exec(text, scope)
    return scope[name]


def result(function: Any, **options: Any) -> list[float]:
    x = np.zeros(4, np.float32)
    amdjit.kernel(function, **options)[1, 4](x)
    return list(x)


def test_a_constant_of_the_caller() -> None:
    names: dict[str, Any] = {"amdjit": amdjit}
    exec("def plain(x):\n    x[amdjit.grid(1)] += 1\n", names)
    assert result(names["plain"]) == [1] * 4


def test_a_constant_that_was_changed_before() -> None:
    names: dict[str, Any] = {"amdjit": amdjit}
    exec(
        textwrap.dedent("""
            def indented(x):
                if amdjit.grid(1) < 2:
                    x[amdjit.grid(1)] += 2
        """),
        names,
    )
    exec(
        textwrap.dedent("""
            @amdjit.kernel
            def stripped(x):
                x[amdjit.grid(1)] += 3
        """).strip(),
        names,
    )
    assert result(names["indented"]) == [2, 2, 0, 0]
    x = np.zeros(4, np.float32)
    names["stripped"][1, 4](x)
    assert list(x) == [3] * 4


def test_a_variable_of_a_caller_and_of_a_module() -> None:
    template = string.Template("def ${name}(x):\n    x[amdjit.grid(1)] += $number\n")
    text = template.substitute(name="of_a_template", number=5)
    assert result(made(text, "of_a_template")) == [5] * 4
    assert result(made(MODULE_TEXT, "of_the_module")) == [7] * 4
    texts = {"first": "def first(x):\n    x[0] = 1\n", "other": "def other(x):\n    x[1] = 2\n"}
    assert result(made(texts["other"], "other")) == [0, 2, 0, 0]


def _elsewhere() -> Any:
    names: dict[str, Any] = {"amdjit": amdjit}
    exec("def elsewhere(x):\n    x[amdjit.grid(1)] = 4\n", names)
    return names["elsewhere"]


class Maker:
    """Makes functions."""

    def function(self) -> Any:
        text = "def of_a_method(x):\n    x[amdjit.grid(1)] = 6\n"
        names: dict[str, Any] = {"amdjit": amdjit}
        exec(text, names)
        return names["of_a_method"]


def test_constants_of_functions_that_have_returned() -> None:
    assert result(_elsewhere()) == [4] * 4
    assert result(Maker().function()) == [6] * 4


def test_lambdas_closures_and_device_functions() -> None:
    text = """
add = lambda v, k: v + k
def helper(v):
    return add(v, 2) * 3
def outer(factor):
    def inner(v):
        return helper(v) * factor
    return inner
times = outer(10)
@amdjit.kernel
def kernel(x):
    i = amdjit.grid(1)
    x[i] = times(x[i] + i)
"""
    kernel = made(text, "kernel")
    x = np.zeros(4, np.float32)
    kernel[1, 4](x)
    assert list(x) == [(i + 2) * 30 for i in range(4)]


def test_a_device_function_whose_text_stands_in_another_function() -> None:
    helper = made("def helper(v):\n    return v + 8\n", "helper")

    @device_function
    def doubled(v):
        return helper(v) * 2

    def kernel(x):
        x[amdjit.grid(1)] = doubled(1)

    assert result(kernel) == [18] * 4


def test_equal_names_have_their_own_texts() -> None:
    functions = []
    for number in range(3):
        text = f"def numbered(x):\n    x[amdjit.grid(1)] = {number}\n"
        functions.append(amdjit.kernel(made(text, "numbered")))
    for number, kernel in enumerate(functions):
        x = np.zeros(4, np.float32)
        kernel[1, 4](x)
        assert list(x) == [number] * 4


def test_annotations_that_code_does_not_show_are_not_guessed() -> None:
    """Python's code has no trace of the annotation of a variable; the text may be another one."""
    functions = {}
    for type in ("f16", "f32"):
        text = f"def annotated(x):\n    v: {type} = 2049\n    x[0] = v\n"
        functions[type] = made(text, "annotated", f16=amdjit.f16, f32=f32)
    with pytest.raises(UnsupportedSyntaxError, match="AJ0103"):
        read_source(functions["f16"])
    other = "def typed(x: f32):\n    return x + 1\n"
    wrong = made(other.replace("f32", "f64"), "typed", f64=amdjit.f64)
    with pytest.raises(UnsupportedSyntaxError, match="AJ0103"):
        read_source(wrong)


def test_without_a_text_the_remedy_works(tmp_path: Path) -> None:
    names: dict[str, Any] = {"amdjit": amdjit}
    parts = ["def ", "lost(x):\n    x[amdjit.grid(1)]", " = 9\n"]
    exec("".join(parts), names)
    with pytest.raises(UnsupportedSyntaxError, match=r"AJ0103.*lost.*\n.*linecache.cache\[name\]"):
        result(names["lost"])
    name, text = "<lost and found>", "".join(parts)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)
    del text
    assert result(names["lost"]) == [9] * 4


PROGRAM = """
import numpy as np, amdjit
@amdjit.kernel
def kernel(x):
    x[amdjit.grid(1)] += 3

add = lambda v: v + 1
def helper(v):
    return add(v) * 2

@amdjit.kernel
def second(x):
    i = amdjit.grid(1)
    for k in range(2):
        x[i] = helper(x[i])

x = np.zeros(4, np.int32)
kernel[1, 4](x); second[1, 4](x); print("result", *x)
"""


def _environment(home: Path) -> dict[str, str]:
    own = {"HOME": str(home), "PYTHONPATH": str(ROOT), "AMDJIT_DEVICE": "emulator:gfx1201"}
    return {**os.environ, **own, "TERM": "dumb"}


def test_text_from_a_file_given_as_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    with file.open() as text:
        run = subprocess.run(
            [sys.executable], stdin=text, capture_output=True, text=True, env=_environment(tmp_path)
        )
    assert run.stdout.split() == ["result", *["18"] * 4], run.stderr


def test_text_from_a_pipe_is_refused_with_the_remedy(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable], input=PROGRAM, capture_output=True, text=True, env=_environment(tmp_path)
    )
    assert "result" not in run.stdout
    assert "AJ0103" in run.stderr
    assert "linecache.cache[name]" in run.stderr


def test_what_is_typed_at_the_prompt(tmp_path: Path) -> None:
    typed = PROGRAM.replace("\n\n", "\n\n") + "\nexit()\n"
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-q"], stdin=secondary, stdout=secondary, stderr=secondary,
        env=_environment(tmp_path), close_fds=True,
    )  # fmt: skip
    os.close(secondary)
    shown = b""
    for line in typed.splitlines():
        os.write(primary, line.encode() + b"\n")
    try:
        while part := os.read(primary, 65536):
            shown += part
    except OSError:  # the end of a terminal
        pass
    process.wait(60)
    os.close(primary)
    assert b"result 18 18 18 18" in shown, shown.decode()


def documented() -> None:
    """A doctest.

    >>> @amdjit.kernel
    ... def kernel(x):
    ...     x[amdjit.grid(1)] += 5
    >>> x = np.zeros(4, np.int32)
    >>> kernel[1, 4](x)
    >>> x.tolist()
    [5, 5, 5, 5]
    """


def test_doctests() -> None:
    finder = doctest.DocTestFinder()
    (found,) = finder.find(documented, globs={"amdjit": amdjit, "np": np})
    assert doctest.DocTestRunner().run(found).failed == 0
