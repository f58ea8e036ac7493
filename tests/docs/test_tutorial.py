"""Every program of the tutorial and of other texts runs, in order, and prints what the text says it
prints."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from amdjit.intrinsics import wave

ROOT = Path(__file__).parents[2]
TEXTS = (
    "tutorial",
    "language",
    "arithmetic",
    "memory",
    "matrix",
    "emulator",
    "from_numba",
    "from_hip",
    "from_triton",
    "debugging",
    "sanitizer",
    "wave",
    "inspection",
    "cooperative",
    "block",
    "random",
)
# A program, and what it prints if the text shows that.
BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```(?:\n+Prints:\n+```\n(?P<printed>.*?)```)?", re.DOTALL
)


def text_of(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text()


def blocks(name: str) -> list[tuple[str, str | None]]:
    """Return the programs of a page with what each prints."""
    return [(match["code"], match["printed"]) for match in BLOCK.finditer(text_of(name))]


@pytest.mark.parametrize("name", TEXTS)
def test_the_programs_run_in_order(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, (code, printed) in enumerate(blocks(name), 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "kernels.py").write_text(code)
        names.update(run(folder / "kernels.py", names))
        output = capsys.readouterr().out
        if printed is not None:
            assert normalised(output) == normalised(printed), f"block {number}:\n{output}"


def run(file: Path, names: dict[str, object]) -> dict[str, object]:
    """Run a program as a module that has the names of those before it; return the names it has
    then."""
    specification = importlib.util.spec_from_file_location(f"program_{file.parent.name}", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    vars(module).update({name: value for name, value in names.items() if not name.startswith("__")})
    sys.modules[module.__name__] = module
    specification.loader.exec_module(module)
    return vars(module)


def normalised(text: str) -> str:
    """Leave out the folder of the program and spaces at the ends of lines."""
    return "\n".join(
        re.sub(r"\S*/kernels\.py", "kernels.py", line).rstrip()
        for line in text.strip().splitlines()
    )


def test_the_tutorial_shows_what_it_promises() -> None:
    sections = re.findall(r"^## (.*)$", text_of("tutorial"), re.MULTILINE)
    programs = blocks("tutorial")
    assert len(sections) >= 7
    assert len(programs) >= len(sections)
    assert sum(printed is not None for _, printed in programs) >= 10


def test_every_function_of_lanes_has_an_example_that_is_run() -> None:
    code = "".join(block for block, _ in blocks("wave"))
    used = set(re.findall(r"wave\.(\w+)", code))
    assert set(wave.__all__) - used == {
        "wave_id",
        "wavefront_size",
    }  # in the text: they tell nothing of other lanes
