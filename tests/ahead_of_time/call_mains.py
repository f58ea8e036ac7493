"""Call `main` of shared libraries, each with its output in a file: FOLDER NAME=LIBRARY..."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path


def main() -> None:
    """Run the programs in order."""
    folder = Path(sys.argv[1])
    everything = ctypes.CDLL(None)
    kept = os.dup(1), os.dup(2)
    for argument in sys.argv[2:]:
        name, _, library = argument.partition("=")
        written = os.open(folder / f"{name}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(written, 1)
        os.dup2(written, 2)
        code = ctypes.CDLL(library).main()
        everything.fflush(None)
        sys.stderr.flush()
        os.write(written, f"exit {code}\n".encode())
        os.close(written)
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)


if __name__ == "__main__":
    main()
