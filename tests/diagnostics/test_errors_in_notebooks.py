"""IPython shows errors in kernels without amdjit's frames, with cells by their numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("IPython")

CELLS = [
    "import numpy as np, amdjit\nfrom amdjit import f32\n",
    "@amdjit.kernel\ndef wrong(x: f32[:]):\n    i = amdjit.grid(1)\n    x[i] = y\n",
    "def launch():\n    wrong[1, 1](np.ones(1, np.float32))\n",
    "launch()\n",
    "wrong.compile(f32)\n",
    "@amdjit.kernel\ndef right(x: f32[:]):\n    x[0] = 2\nprint(right.compile().asm)\n",
    "@amdjit.kernel\ndef fails(x: f32[:]):\n    assert x[0] > 5\n"
    "fails[1, 1](np.ones(1, np.float32))\n",
    "@amdjit.kernel\ndef strays(x: f32[:]):\n    x[10000] = 1\n"
    "strays[1, 1](np.ones(1, np.float32))\n",
    "print([d for d in amdjit.devices() if 'gfx1200' in d.name])\n",
]
PROGRAM = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors=sys.argv[1])
for cell in {cells!r}:
    print("-- cell", flush=True)
    shell.run_cell(cell, store_history=True)
"""


def shown(folder: Path, colours: str) -> list[str]:
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(cells=CELLS), colours],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "AMDJIT_DEVICE": "emulator:gfx1201",
            "IPYTHONDIR": str(folder),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.split("-- cell\n")[1:]


def test_errors_name_cells_and_show_only_the_users_frames(tmp_path: Path) -> None:
    cells = shown(tmp_path, "nocolor")
    assert cells[3] == (
        "Cell In[4]:1, in <module>\n"
        "    launch()\n"
        "Cell In[3]:2, in launch\n"
        "    wrong[1, 1](np.ones(1, np.float32))\n"
        "CompileError\n"
        "error[AJ0301]: `y` is not defined\n"
        " --> Cell In[2]:4:12\n"
        "  |\n"
        "4 |     x[i] = y\n"
        "  |            ^ not defined\n"
        "  = help: assign it before it is used, or import it in the module\n"
    )
    assert "Cell In[5]:1, in <module>" in cells[4]
    assert " --> Cell In[2]:2:11" in cells[4]
    assert "; Cell In[6]:3  x[0] = 2" in cells[5]
    assert "Cell In[7]:3" in cells[6].partition("AssertionError")[2]
    assert "  at Cell In[8]:3\n" in cells[7]
    assert cells[8] == "[<EmulatorDevice emulator:gfx1200>]\n"
    for cell in cells:
        assert "amdjit/" not in cell.partition("KernelFault")[0]
        assert not re.search(r"ipython-input|ipykernel|/tmp/", cell)


def test_errors_are_coloured_where_ipython_has_colours(tmp_path: Path) -> None:
    plain, coloured = shown(tmp_path, "nocolor")[3], shown(tmp_path, "linux")[3]
    assert "\x1b[1;31merror[AJ0301]:\x1b[0m `y` is not defined" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b" not in plain
