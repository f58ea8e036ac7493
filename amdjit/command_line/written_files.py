"""Files that commands write: what went wrong is one clear error, what went well one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amdjit.diagnostics import BackendError

__all__ = ["write_file"]


def write_file(output: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file, and print its name and size; BackendError if it cannot."""
    try:
        write(output)
    except OSError as error:
        raise BackendError(f"{output} cannot be written: {error.strerror}") from error
    print(f"{output}: {output.stat().st_size} bytes")
