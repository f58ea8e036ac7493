"""Type checkers accept users' programs, and still find what is wrong in them."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import amdjit
from amdjit.language import named_types
from amdjit.launching.kernel_options import SPELLINGS, GivenOptions
from amdjit.options import CompileOptions
from amdjit.tuning.settings import GivenSettings, Settings

PROGRAM = Path(__file__).with_name("checked_program.py")
MISTAKEN = Path(__file__).with_name("mistaken_program.py")
MISTAKES = """import amdjit
from amdjit import f32


@amdjit.kernel
def fill(x: f32[:]) -> None:
    x[0] = 1

fill.grid = 3
amdjit.to_device()
print(amdjit.no_such_name)
print(fill.compile(f32[:]).resources.no_such_resource)
"""
ROOT = Path(amdjit.__file__).parents[1]
# The cache is that of the project's own check, so most runs are quick.
COMMANDS = {
    "mypy": ["mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache")],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}
CHECKERS = [name for name in COMMANDS if importlib.util.find_spec(name)]


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_program_passes_and_one_with_mistakes_does_not(checker: str, tmp_path: Path) -> None:
    """Both are checked at once, where the checker finds no configuration of this project."""
    files = tmp_path / "program.py", tmp_path / "mistakes.py", tmp_path / "mistaken.py"
    texts = PROGRAM.read_text(), MISTAKES, MISTAKEN.read_text()
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    child = subprocess.run(
        [sys.executable, "-m", *COMMANDS[checker], *map(str, files)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)},
    )
    found = set(re.findall(r"(\w+\.py):(\d+)", child.stdout))
    expected = {("mistakes.py", str(line)) for line in (9, 10, 11, 12)}
    for number, line in enumerate(texts[2].splitlines(), 1):
        if line.endswith("# mistake"):
            expected.add(("mistaken.py", str(number)))
    assert found == expected, child.stdout + child.stderr


def test_type_checkers_see_all_names() -> None:
    stub = Path(named_types.__file__).with_suffix(".pyi")
    module = ast.parse(stub.read_text())
    real = {name for name in vars(named_types) if not name.startswith("_")}
    listed = next(
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert set(listed) == real
    (branches,) = (node for node in module.body if isinstance(node, ast.If))
    (imported,) = branches.body
    assert isinstance(imported, ast.ImportFrom)
    declared = {node.name for node in branches.orelse if isinstance(node, ast.ClassDef)}
    assert {alias.name for alias in imported.names} == real - {"vector"}
    assert declared - {"Value", "ValueType"} == real - {"vector"}
    assert sorted(listed) == sorted(set(listed))


def test_the_program_runs() -> None:
    subprocess.run([sys.executable, "-W", "ignore", str(PROGRAM)], check=True, capture_output=True)


def test_type_checkers_see_all_options_and_settings() -> None:
    options = {"min_blocks", *CompileOptions.__dataclass_fields__} - {"target"}
    assert set(GivenOptions.__annotations__) == options | {each.name for each in SPELLINGS}
    assert set(GivenSettings.__annotations__) == {each.name for each in fields(Settings)}
