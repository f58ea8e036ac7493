"""A kernel is compiled from the text that Python compiled it from, whatever became of its file."""

from __future__ import annotations

import ast
import heapq
import importlib.util
import json.decoder
import linecache
import os
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, f64
from amdjit.frontend.source import reading
from amdjit.frontend.source.reading import read_source

KERNEL = """
import amdjit
from amdjit import f32, f64
{before}
@amdjit.kernel
def scaled(x):
    factor: {type} = {factor}
    x[amdjit.grid(1)] *= {call}(factor)
"""
Load = Callable[..., types.ModuleType]


@pytest.fixture(params=[True, False], ids=["with a pyc file", "without"])
def load(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Load]:
    """Write a module and import it; the same name writes the file again."""
    monkeypatch.setattr(sys, "dont_write_bytecode", not request.param)
    loaded: list[str] = []

    def write_and_import(name: str, text: str) -> types.ModuleType:
        file = write(tmp_path, name, text)
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loaded.append(name)
        spec.loader.exec_module(module)
        return module

    yield write_and_import
    for name in loaded:
        sys.modules.pop(name, None)


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / f"{name}.py"
    file.write_text(text)
    return file


def text_of(factor: float = 2, type: str = "f32", before: str = "", call: str = "") -> str:
    return KERNEL.format(factor=factor, type=type, before=before, call=call)


def result(kernel: Any, dtype: Any = np.float32) -> float:
    x = np.ones(1, dtype)
    kernel[1, 1](x)
    return float(x[0])


EDITS = {
    "another number": text_of(3),
    "another type of a variable": text_of(2, "f64"),
    "lines above": text_of(3, before="# one\n# two\n"),
    "another kernel at the line": text_of(3).replace("def scaled", "def other"),
    "no Python any more": "def (:",
    "empty": "",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_before_the_first_compilation_changes_nothing(
    load: Load, tmp_path: Path, edit: str
) -> None:
    module = load("edited_first", text_of())
    write(tmp_path, "edited_first", EDITS[edit])
    compiled = module.scaled.compile(f32[:])
    assert "factor: f32" in compiled.typed_tree
    assert result(module.scaled) == 2


@pytest.mark.sample(6)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_between_two_specialisations_changes_nothing(
    load: Load, tmp_path: Path, edit: str
) -> None:
    module = load("edited_between", text_of())
    assert result(module.scaled) == 2
    write(tmp_path, "edited_between", EDITS[edit])
    linecache.checkcache()
    assert result(module.scaled, np.float64) == 2
    shown = module.scaled.compile(f64[:]).asm
    assert "*= (factor)" in shown


def test_a_removed_file_changes_nothing(load: Load, tmp_path: Path) -> None:
    module = load("removed_file", text_of())
    (tmp_path / "removed_file.py").unlink()
    assert result(module.scaled) == 2


def test_a_touched_file_is_the_same_file(load: Load, tmp_path: Path) -> None:
    maker = "def make():\n" + textwrap.indent(text_of(), "    ") + "\n    return scaled\n"
    module = load("touched_file", maker)
    os.utime(tmp_path / "touched_file.py", ns=(2**60, 2**60))
    assert result(module.make()) == 2


def test_a_reloaded_module_is_compiled_from_its_new_text(load: Load) -> None:
    # Python takes a file of the same size and second for the one that it compiled before.
    first = load("reloaded", text_of()).scaled
    second = load("reloaded", text_of(30)).scaled
    third = load("reloaded", text_of(300, "f64")).scaled
    assert (result(first), result(second), result(third)) == (2, 30, 300)
    assert "factor: f64" in third.compile(f32[:]).typed_tree
    assert "factor: f32" in second.compile(f32[:]).typed_tree


HELPER = """
from amdjit import f32, f64

def {name}(x):
    scale: {type} = {factor}
    return x * scale
"""
CALLER = """
import amdjit
{imports}

@amdjit.kernel
def scaled(x):
    i = amdjit.grid(1)
    x[i] = x.dtype({called}(x[i]))
"""


@pytest.mark.parametrize(
    ("imports", "called"),
    [("from far_helper import times", "times"), ("import far_helper", "far_helper.times")],
)
@pytest.mark.parametrize("kind", ["plain", "device function"])
def test_helpers_of_other_files_keep_their_text(
    load: Load, tmp_path: Path, imports: str, called: str, kind: str
) -> None:
    text = HELPER.format(name="times", type="f32", factor=2)
    if kind == "device function":
        text = "import amdjit" + text.replace("def", "@amdjit.device_function\ndef")
    load("far_helper", text)
    module = load("far_caller", CALLER.format(imports=imports, called=called))
    write(tmp_path, "far_helper", text.replace("f32 = 2", "f64 = 2"))
    if kind == "plain" and called == "far_helper.times":
        # Nothing has read the file before it was edited, and the code does not tell the two apart.
        with pytest.raises(amdjit.CompileError, match=r"AJ0114.*far_helper"):
            module.scaled.compile(f32[:])
    else:
        assert "scale: f32" in module.scaled.compile(f32[:]).typed_tree


@pytest.mark.parametrize("edit", [("= 2", "= 3"), ("x * scale", "scale * x"), ("= 2", "= 2.0")])
def test_an_edited_helper_that_nothing_has_read_is_refused(
    load: Load, tmp_path: Path, edit: tuple[str, str]
) -> None:
    text = HELPER.format(name="times", type="f32", factor=2).replace(": f32", "")
    load("unread_helper", text)
    module = load(
        "its_caller", CALLER.format(imports="import unread_helper", called="unread_helper.times")
    )
    write(tmp_path, "unread_helper", text.replace(*edit))
    with pytest.raises(amdjit.CompileError, match=r"AJ0114.*unread_helper") as caught:
        module.scaled.compile(f32[:])
    assert "reload the module or start the program again" in str(caught.value)
    write(tmp_path, "unread_helper", text)
    assert result(module.scaled) == 2


MAKERS = """
import amdjit
from amdjit import f32, f64

{first}
def make(factor):
    @amdjit.kernel
    def scaled(x{annotation}):
        x[amdjit.grid(1)] {operator}= factor
    return scaled
"""


@pytest.mark.parametrize(
    "edit", [{"operator": "+"}, {"annotation": ": f64[:]"}], ids=["operator", "annotation"]
)
def test_a_kernel_made_after_an_edit_is_refused_or_old(
    load: Load, tmp_path: Path, edit: dict[str, str]
) -> None:
    old = {"first": "", "annotation": ": f32[:]", "operator": "*"}
    module = load("made_later", MAKERS.format(**old))
    write(tmp_path, "made_later", MAKERS.format(**{**old, **edit}))
    with pytest.raises(amdjit.CompileError, match="AJ0114"):
        module.make(2).compile(f32[:])
    known = "@amdjit.kernel\ndef known(): pass\n"
    module = load("made_early", MAKERS.format(**{**old, "first": known}))
    write(tmp_path, "made_early", MAKERS.format(**{**old, **edit, "first": known}))
    assert result(module.make(5)) == 5


def test_lambdas_keep_their_text(load: Load, tmp_path: Path) -> None:
    text = """
import amdjit
twice = amdjit.device_function(lambda x: x * 2)
@amdjit.kernel
def kernel(x):
    x[0] = twice(x[0])
"""
    module = load("of_a_lambda", text)
    write(tmp_path, "of_a_lambda", text.replace("* 2", "* 3"))
    assert result(module.kernel) == 2
    assert result(module.kernel, np.float64) == 2


def test_of_two_lambdas_of_a_line_the_code_tells_which(load: Load) -> None:
    text = """
import amdjit
add, sub = (lambda x: x + 1), (lambda x: x - 1)
@amdjit.kernel
def both(x):
    x[0] = add(x[0]) * 10
    x[0] = sub(x[0])
"""
    assert result(load("two_lambdas", text).both) == 19


def test_a_cell_that_was_run_again_leaves_earlier_kernels_alone() -> None:
    kernels = []
    for factor in (2, 3):
        text = text_of(factor)
        linecache.cache["<cell of a test>"] = (len(text), None, text.splitlines(True), "<cell>")
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(text, "<cell of a test>", "exec"), names)
        kernels.append(names["scaled"])
    del linecache.cache["<cell of a test>"]
    assert [result(kernel) for kernel in kernels] == [2, 3]


CLASS = """
import amdjit

class Holder:
    __hidden = 5

    @staticmethod
    @amdjit.device_function
    def read(x):
        __local = x + 1
        return __local

    @amdjit.kernel
    def kernel(x):
        __factor = 2
        x[0] *= __factor
"""


def test_names_that_a_class_mangles_are_no_edit(load: Load) -> None:
    assert result(load("of_a_class", CLASS).Holder.kernel) == 2


def test_asserts_that_pytest_rewrites_are_no_edit() -> None:
    @amdjit.kernel
    def checked(x: f32[:]) -> None:  # type: ignore[valid-type]
        i = amdjit.grid(1)
        for step in range(3):
            assert step < 3, "too far"
            x[i] += step
        assert x[i] == 4

    assert result(checked) == 4


@pytest.mark.parametrize("edit", ["return b - a", "return a - 2 * b", "return a - b + 1"])
def test_an_edit_beside_rewritten_asserts_is_found(edit: str) -> None:
    def difference(a: float, b: float) -> float:
        assert a > 0
        return a - b

    lines = list(read_source(difference).text.lines)
    at = difference.__code__.co_firstlineno + 1
    assert lines[at].strip() == "return a - b"
    node = reading._matching(difference, tuple(lines))
    assert node is not None
    lines[at] = lines[at].replace("return a - b", edit)
    changed = reading._matching(difference, tuple(lines))
    assert changed is None or edit == "return a - b + 1"


def test_code_that_a_decorator_rewrote_is_refused() -> None:
    def number(x):  # type: ignore[no-untyped-def]
        x[0] = 1

    number.__code__ = number.__code__.replace(co_consts=(None, 2, 0))
    with pytest.raises(amdjit.CompileError, match="decorate the function as it is written"):
        amdjit.kernel(number).compile(f32[:])


@pytest.mark.parametrize("module", [heapq, json.decoder, textwrap], ids=lambda each: each.__name__)
def test_definitions_of_pythons_library_are_told_from_edited_ones(module: types.ModuleType) -> None:
    """What Python's compiler makes of its library is the oracle."""
    text = Path(module.__file__ or "").read_text()
    count = 0
    for name, function in vars(module).items():
        if not isinstance(function, types.FunctionType) or function.__module__ != module.__name__:
            continue
        lines = text.splitlines(keepends=True)
        node = reading._matching(function, tuple(lines))
        assert node is not None, name
        numbers = [
            each
            for statement in getattr(node, "body", ())
            for each in ast.walk(statement)
            if isinstance(each, ast.Constant)
            and type(each.value) is int
            and each.lineno == each.end_lineno
        ]
        for each in numbers:
            changed = list(lines)
            line = changed[each.lineno - 1]
            end = each.end_col_offset or 0
            changed[each.lineno - 1] = f"{line[: each.col_offset]}7{line[end:]}"
            assert reading._matching(function, tuple(changed)) is None, (name, each.lineno)
        count += 1
    assert count >= 3 or module is json.decoder
