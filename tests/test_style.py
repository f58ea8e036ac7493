"""The rules of the code base that no tool checks: sizes, imports, paths."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 50


@cache
def tracked() -> tuple[Path, ...]:
    """Return the files of the project: what git knows or would take, in a bare tree all that is not
    a cache."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        files = [ROOT / line for line in listed.stdout.splitlines()]
    else:
        files = [file for file in ROOT.rglob("*") if "cache" not in str(file.relative_to(ROOT))]
    return tuple(sorted(file for file in files if file.is_file() and not _linked(file)))


def _linked(file: Path) -> bool:
    return any(
        parent.is_symlink() for parent in (file, *file.parents) if parent.is_relative_to(ROOT)
    )


def sources(*folders: str) -> list[Path]:
    """Return the Python files below some top-level folders, without generated ones."""
    found = [f for f in tracked() if f.suffix == ".py" and f.relative_to(ROOT).parts[0] in folders]
    return [file for file in found if not is_generated(file)]


def is_generated(file: Path) -> bool:
    """Return whether a file says in its first lines that it is generated."""
    return "generated" in "\n".join(file.read_text().splitlines()[:5]).lower()


def functions(file: Path) -> Iterator[tuple[str, int]]:
    """Return each function's name and its lines, without those of texts: docstrings, and the IR
    that functions emit."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, _lines(node) - _text_lines(node)


def _lines(node: ast.stmt | ast.expr) -> int:
    return (node.end_lineno or 0) - node.lineno + 1


def _text_lines(function: ast.AST) -> int:
    texts = (node for node in ast.walk(function) if isinstance(node, (ast.Constant, ast.JoinedStr)))
    return len(
        {
            line
            for text in texts
            if _lines(text) > 1
            for line in range(text.lineno, (text.end_lineno or 0) + 1)
        }
    )


PRODUCT = ("amdjit", "intrinsics", "lowering", "examples")
EVERYTHING = (*PRODUCT, "tests", "benchmarks", "docs")


def names(files: list[Path]) -> list[str]:
    return [str(file.relative_to(ROOT)) for file in files]


def test_there_is_something_to_check() -> None:
    assert len(sources(*PRODUCT)) > 100


def test_modules_are_short() -> None:
    long = {
        name: len((ROOT / name).read_text().splitlines()) for name in names(sources(*EVERYTHING))
    }
    assert not {name: lines for name, lines in long.items() if lines > MAX_MODULE_LINES}
    assert statistics.median(len(file.read_text().splitlines()) for file in sources(*PRODUCT)) < 200


def test_functions_are_short() -> None:
    lengths = [(lines, name, file) for file in sources(*PRODUCT) for name, lines in functions(file)]
    assert not [
        f"{file.name}: {name} has {lines} lines"
        for lines, name, file in lengths
        if lines > MAX_FUNCTION_LINES
    ]
    assert statistics.quantiles([lines for lines, _, _ in lengths], n=20)[-1] < 30


def test_every_module_says_what_it_is() -> None:
    undocumented = [
        f
        for f in sources(*EVERYTHING)
        if f.read_text().strip() and not ast.get_docstring(_parsed(f))
    ]
    assert not names(undocumented)


def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def test_packages_are_imported_under_their_installed_names() -> None:
    pattern = re.compile(
        r"^\s*(from|import) (intrinsics|lowering|examples)\b|^\s*from \.", re.MULTILINE
    )
    assert not [
        name for name in names(sources(*EVERYTHING)) if pattern.search((ROOT / name).read_text())
    ]


def test_environment_variables_are_read_in_one_place() -> None:
    readers = [
        f
        for f in sources("amdjit", "intrinsics", "lowering")
        if re.search(r"getenv|environ\[", f.read_text())
    ]
    assert not names(readers)


def test_names_are_no_utilities_and_no_private_modules() -> None:
    stems = {file.stem for file in sources(*PRODUCT)}
    of_python = {"__init__", "__main__"}
    assert not [stem for stem in stems - of_python if "util" in stem or stem.startswith("_")]


def test_committed_files_hold_no_paths_of_one_machine() -> None:
    pattern = re.compile(
        r"(?<![\w.])/((work|root|Users|tmp/venv)/\w|home/(?!me\b)\w)|[A-Z]:\\Users"
    )
    texts = {}
    for file in tracked():
        if file != Path(__file__) and file.suffix in (
            ".py",
            ".md",
            ".toml",
            ".c",
            ".ll",
            ".txt",
            ".yml",
            "",
        ):
            texts[str(file.relative_to(ROOT))] = file.read_bytes().decode(errors="replace")
    assert len(texts) > 100
    assert not [name for name, text in texts.items() if pattern.search(text)]


def test_coverage_measures_every_package() -> None:
    if sys.version_info < (3, 11):
        pytest.skip("needs Python 3.11 to read TOML")
    project = __import__("tomllib").loads((ROOT / "pyproject.toml").read_text())
    linked = set(project["tool"]["setuptools"]["package-dir"]) - {"amdjit.examples"}
    assert set(project["tool"]["coverage"]["run"]["source_pkgs"]) == linked


def loaded(program: str, *prefixes: str) -> list[str]:
    """Return which modules with such names a new process has loaded after a program."""
    report = f"import sys; print([name for name in sys.modules if name.startswith({prefixes})])"
    command = [sys.executable, "-c", f"{program}; {report}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return list(ast.literal_eval(done.stdout))


def test_importing_amdjit_loads_neither_the_compiler_nor_instruction_tables() -> None:
    late = ("amdjit.emulator.decoder", "amdjit.emulator.instructions", "hip", "llvmlite")
    assert (
        loaded("import amdjit", *late, "amdjit.lowering", "amdjit.backend", "amdjit.code_object")
        == []
    )


def test_a_launch_without_checks_loads_only_what_the_checks_must_have_seen() -> None:
    program = (
        "import numpy; from amdjit.emulator import EmulatorDevice; import amdjit; "
        "from amdjit.target import find_target; from amdjit.examples.saxpy import saxpy; "
        "a = numpy.ones(64, numpy.float32); "
        "amdjit.use(EmulatorDevice(find_target('gfx1201'))).__enter__(); "
        "saxpy[1, 64](numpy.float32(2), a, a, a)"
    )
    observers = {"init.written_memory", "init.layout", "memory.quarantine"}
    checks = "amdjit.emulator.checks."
    modules = {name.removeprefix(checks) for name in loaded(program, checks)}
    assert modules - {"init", "memory"} == observers


def test_what_the_disk_cache_holds_is_compiled_without_llvm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AMDJIT_CACHE_DIR", str(tmp_path))
    program = (
        "from amdjit.examples.saxpy import saxpy; from amdjit import f32 as f; x = f[:]; "
        "saxpy.compile(f, x, x, x)"
    )
    started = "amdjit.backend.guarded"
    assert started in loaded(program, "amdjit.backend")
    # LLVM runs in another process, which is started where the cache does not hold the code.
    assert started not in loaded(program, "amdjit.backend")
    monkeypatch.setenv("AMDJIT_CACHE_DIR", "")
    assert "llvmlite.binding" not in loaded(program, "llvmlite")
    monkeypatch.setenv("AMDJIT_COMPILE_GUARD", "0")
    assert "llvmlite.binding" in loaded(program, "llvmlite")
