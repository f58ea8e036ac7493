"""`%%amdjit_explore` and `%%amdjit_asm` in IPython: a cell runs, and shows its kernels."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amdjit.diagnostics import LaunchError
from tests.explorer.chromium import Browser, open_browser

pytest.importorskip("IPython")
from IPython.core.interactiveshell import InteractiveShell

KERNEL = """
import amdjit, numpy as np
from amdjit import f32

@amdjit.kernel
def scale(x, factor):
    i = amdjit.grid(1)
    x[i] = x[i] * factor
"""
LAUNCH = "scale[2, 32](np.ones(64, np.float32), f32(2))\n"


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "amdjit")
    yield made
    InteractiveShell.clear_instance()


def shown(shell: Any, magic: str, line: str, cell: str) -> Any:
    return shell.run_cell_magic(magic, line, cell)


def page_in(value: Any) -> str:
    """Return the page in the frame that a notebook shows."""
    [page] = re.findall(r'srcdoc="([^"]*)"', value._repr_html_())
    return html.unescape(page)


def data_of(page: str) -> Any:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_the_machine_code_of_a_cell(shell: Any) -> None:
    value = shown(shell, "amdjit_asm", '--signature "f32[:],f32" --target gfx1200', KERNEL)
    assert "v_mul_f32" in repr(value)
    assert "scale(f32[::1], f32)" in repr(value)
    assert "x[i] = x[i] * factor" in repr(value)
    assert "gfx1200" in shell.user_ns["scale"].specialisations[0].target.name
    assert "v_mul_f32" in value._repr_html_()


def test_the_page_of_a_cells_launches(shell: Any) -> None:
    value = shown(shell, "amdjit_explore", "--height 300", KERNEL + LAUNCH + "done = 1")
    assert shell.user_ns["done"] == 1
    assert "height: 300px" in value._repr_html_()
    data = data_of(page_in(value))
    [version] = data["versions"]
    assert version["launch"]["grid"] == [2, 1, 1]
    assert data["kernels"][0]["typed_tree"]
    assert any("x[i] = x[i] * factor" in line for f in data["kernels"][0]["files"]
               for line in f["lines"])  # fmt: skip


def test_the_page_of_a_kernel_that_is_not_launched(shell: Any) -> None:
    value = shown(shell, "amdjit_explore", '--signature "f32[:],f32"', KERNEL)
    [version] = data_of(page_in(value))["versions"]
    assert "launch" not in version


@pytest.mark.parametrize(
    ("line", "cell", "words"),
    [
        ("", KERNEL, '--signature "f32[:],f32"'),
        ("", "x = 1", "the cell defines no kernel"),
        ("absent", KERNEL, "there is no kernel 'absent'"),
        ("--wrong", KERNEL, "unrecognized arguments: --wrong"),
    ],
)
def test_what_is_missing_is_said(shell: Any, line: str, cell: str, words: str) -> None:
    for magic in ("amdjit_asm", "amdjit_explore"):
        with pytest.raises(LaunchError, match=re.escape(words)):
            shown(shell, magic, line, cell)


def test_a_cell_that_fails_shows_its_error_alone(shell: Any, capsys: Any) -> None:
    assert shown(shell, "amdjit_explore", "", KERNEL + "1 / 0") is None
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_importing_amdjit_loads_no_magics() -> None:
    code = (
        "import amdjit, sys\n"
        "assert not {'amdjit.command_line.magics', 'IPython'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def test_the_page_works_inside_of_a_notebook(browser: Browser, shell: Any, tmp_path: Path) -> None:
    value = shown(shell, "amdjit_explore", "", KERNEL + LAUNCH)
    (tmp_path / "notebook.html").write_text(f"<!doctype html>{value._repr_html_()}")
    browser.load(tmp_path / "notebook.html", wait="iframe")
    row = "document.querySelector('iframe').contentDocument.querySelector('.listing .row')"
    browser.run(f"{row}.click()")
    assert browser.run(f"return {row}.matches('.pinned')")
    assert browser.messages() == []
