"""`FILE.py:KERNEL` on the command line: the kernel of a file, which is imported for it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from amdjit.api import Kernel
from amdjit.diagnostics import BackendError, LaunchError

__all__ = ["load_kernel", "split_name", "write_file"]


def split_name(text: str) -> tuple[Path, str]:
    """Return file and kernel of `FILE.py:KERNEL`; LaunchError if it is nothing like that."""
    file, separator, name = text.rpartition(":")
    if not separator or not name.isidentifier():
        raise LaunchError(f"{text!r} names no kernel: write FILE.py:KERNEL")
    return Path(file), name


def load_kernel(file: Path, name: str) -> Kernel:
    """Import a file as if from its own folder, and return its kernel. Exceptions of the file
    pass."""
    specification = importlib.util.spec_from_file_location(file.stem, file)
    if not file.is_file() or specification is None or specification.loader is None:
        raise LaunchError(f"{file} is not a Python file: write FILE.py:KERNEL")
    module = importlib.util.module_from_spec(specification)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.parent))
    specification.loader.exec_module(module)
    kernel = getattr(module, name, None)
    if not isinstance(kernel, Kernel):
        kernels = sorted(key for key, value in vars(module).items() if isinstance(value, Kernel))
        raise LaunchError(
            f"{file} has no kernel {name!r}; its kernels are: {', '.join(kernels) or 'none'}"
        )
    return kernel


# Files that commands write: what went wrong is one clear error, what went well one line.


def write_file(output: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file, and print its name and size; BackendError if it cannot."""
    try:
        write(output)
    except OSError as error:
        raise BackendError(f"{output} cannot be written: {error.strerror}") from error
    print(f"{output}: {output.stat().st_size} bytes")
