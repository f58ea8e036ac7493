"""The generated pages are up to date, and links and names in the texts lead somewhere."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import amdjit
from amdjit.diagnostics import codes
from amdjit.options import CompileOptions

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import generate  # noqa: E402

TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("file", generate.PAGES, ids=lambda file: file.name)
def test_generated_pages_are_current(file: Path) -> None:
    assert file.read_text() == generate.PAGES[file](), "run `python docs/generate.py`"


def test_the_generator_needs_nothing_but_an_installation(tmp_path: Path) -> None:
    """It finds the repository by itself: only amdjit is on the path."""
    (tmp_path / "amdjit").symlink_to(ROOT / "amdjit")
    program = f"import runpy; runpy.run_path({str(ROOT / 'docs/generate.py')!r})"
    command = [sys.executable, "-c", f"import sys; sys.path[0] = {str(ROOT / 'docs')!r}; {program}"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_error_code_is_documented() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text()
    assert re.findall(r"^### (AJ\d+)$", page, re.MULTILINE) == sorted(
        kind.code for kind in codes.ALL
    )
    for section in re.split(r"^##+ (?=AJ\d)", page, flags=re.MULTILINE)[1:]:
        example = re.search(
            r"^```python\n(.+?)^```\n\n```text\nerror\[(AJ\d+)\]", section, re.MULTILINE | re.DOTALL
        )
        assert example is not None, section
        assert example[2] == section[:6]
        ast.parse(example[1])


def test_examples_of_errors_point_at_their_own_lines() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text()
    blocks = re.findall(
        r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )
    shown = [
        (source.splitlines(), *row)
        for source, text in blocks
        for row in re.findall(r"^(\d+) \| (.*)", text, re.M)
    ]
    assert len(shown) > 45
    for lines, number, line in shown:
        assert lines[int(number) - 1].expandtabs(1) == line


def test_every_amdgcn_builtin_is_documented() -> None:
    pages = "".join(file.read_text() for file in ROOT.glob("docs/reference/builtins/*.md"))
    names = set(re.findall(r"^\| `(\w+)\(", pages, re.MULTILINE))
    assert len(dir(amdjit.intrinsics.amdgcn)) == 785
    assert set(dir(amdjit.intrinsics.amdgcn)) <= names


def test_every_option_and_variable_is_explained() -> None:
    options = generate.described_fields(CompileOptions)
    assert set(options) == set(CompileOptions.__dataclass_fields__) - {"target"}
    page = (ROOT / "docs/reference/environment.md").read_text()
    read = set(re.findall(r"AMDJIT_[A-Z_]+", (ROOT / "amdjit/options.py").read_text()))
    assert read == set(re.findall(r"^\| `(AMDJIT_[A-Z_]+)` \| \w", page, re.MULTILINE))


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_links_lead_to_files(file: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`(?!\])", "", file.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\((?!https?://)([^)#]+)[^)]*\)", prose)
    assert not [link for link in links if not (file.parent / link).exists()]


def test_the_readme_program_runs(tmp_path: Path) -> None:
    parts = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "first.py").write_text("\n".join(parts))
    done = subprocess.run(
        [sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "global_store_b32" in done.stdout


def test_the_readme_has_its_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "\npip install . && amdjit demo\n" in text
    assert len(re.findall(r'^pip install -e "\.\[test\]" && pytest', text, re.MULTILINE)) == 1


def test_the_code_map_names_every_part() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    folders = {f"{file.parent.name}/" for file in ROOT.glob("amdjit/*/__init__.py")}
    modules = {file.name for file in ROOT.glob("amdjit/[a-z]*.py")}
    assert len(folders | modules) > 20
    assert not sorted(name for name in folders | modules if name not in text)
