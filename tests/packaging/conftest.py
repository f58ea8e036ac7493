"""The project as it is distributed: built once from a copy, so that no build leaves anything in the
checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.built_distributions import ROOT, build

_NOT_SOURCE = (
    ".git",
    ".venv",
    "build",
    "dist",
    "*.egg-info",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    "results",
)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bare checkout: the files of the project, links as links."""
    folder = tmp_path_factory.mktemp("checkout") / "amdjit"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_SOURCE))
    return folder


@pytest.fixture(scope="session")
def distributions(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the sdist and the wheel that was built from the sdist."""
    output = tmp_path_factory.mktemp("distributions")
    build(checkout, output)
    return output


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    """Return the wheel."""
    (file,) = distributions.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds the installed wheel and nothing else; its dependencies are this
    environment's."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--no-deps", "--no-index", "--no-compile", "--quiet", "--target", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True, timeout=120
    )
    return folder
