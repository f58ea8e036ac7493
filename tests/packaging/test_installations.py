"""An installed wheel and a bare checkout compile kernels, with no compiler and no LLVM on the
machine."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import amdjit
from amdjit.examples import wmma_matmul

@amdjit.kernel
def scale(x, s):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] = s * x[i]

compiled = scale.compile(amdjit.f32[:], amdjit.f32, target="gfx1201")
assert compiled.code_object[:4] == b"\\x7fELF" and compiled.resources.vgprs > 0
half = amdjit.f16[:]
compiled = wmma_matmul.wmma_matmul.compile(half, half, half, target="gfx1201")
assert "v_wmma_f32_16x16x16_f16" in compiled.asm
print(amdjit.__file__)
"""


def run(folder: Path, python: Path, program: str, **variables: str) -> str:
    """Run a program from a file: kernels are compiled from their source. No tools are on its search
    path."""
    script = folder / "program.py"
    script.write_text(program)
    environment = {"PATH": "", "HOME": str(folder), "AMDJIT_CACHE_DIR": "", **variables}
    if os.name == "nt":
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    done = subprocess.run(
        [str(python), str(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_an_installed_wheel_compiles_kernels(installed: Path, tmp_path: Path) -> None:
    used = run(tmp_path, Path(sys.executable), PROGRAM, PYTHONPATH=str(installed))
    assert Path(used) == installed / "amdjit" / "__init__.py"


def test_a_bare_checkout_compiles_kernels(checkout: Path, tmp_path: Path) -> None:
    used = run(tmp_path, Path(sys.executable), PROGRAM, PYTHONPATH=str(checkout))
    assert Path(used) == checkout / "amdjit" / "__init__.py"


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    command = installed / "bin" / "amdjit"
    done = subprocess.run(
        [sys.executable, str(command), "--version"],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.startswith("amdjit ")
    assert done.returncode == 0


@pytest.mark.exhaustive
def test_a_fresh_environment_needs_nothing_else(wheel: Path, tmp_path: Path) -> None:
    """Installs the dependencies from the package index."""
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run(
        [scripts / "python", "-m", "pip", "install", "--quiet", str(wheel)], check=True, timeout=600
    )
    assert str(tmp_path / "venv") in run(tmp_path, scripts / "python", PROGRAM)
    done = subprocess.run(
        [scripts / "amdjit", "devices"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert "emulator:gfx1201" in done.stdout, done.stderr
