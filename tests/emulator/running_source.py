"""Kernels whose source a test writes."""

from __future__ import annotations

import runpy
from pathlib import Path

import amdjit


def kernel_from(source: str, name: str, folder: Path) -> amdjit.Kernel:
    """Return a kernel of a module that is written to a folder."""
    file = folder / f"{name}.py"
    file.write_text(source)
    kernel = runpy.run_path(str(file))[name]
    assert isinstance(kernel, amdjit.Kernel)
    return kernel
