"""Source lines in code objects without the paths of the machine that compiled them.

before: !DIFile(filename: "kernels.py", directory: "/home/me/project")
after:  !DIFile(filename: "kernels.py", directory: "")

Files are named from the folder of the kernel's own file if they are in it, else from that of the
package that they belong to.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

from amdjit import backend
from amdjit.compiled_kernel import CompiledKernel
from amdjit.options import read_environment

__all__ = ["with_relative_paths"]

_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"\)')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")


def with_relative_paths(compiled: CompiledKernel, folder: Path) -> bytes:
    """Return the code object of a kernel with its source files named from a folder on.

    BackendError as of a compilation.
    """

    def renamed(found: re.Match[str]) -> str:
        path = _relative(PurePath(_text(found[2]), _text(found[1])), folder)
        directory = path.parent.as_posix()
        shown = "" if directory == "." else directory
        return f'!DIFile(filename: "{_quoted(path.name)}", directory: "{_quoted(shown)}")'

    environment = read_environment(os.environ)
    llvm = _FILE.sub(renamed, compiled.optimized_llvm)
    relocatable = backend.emit_object(llvm, compiled.target, compiled.options, environment)
    return backend.link(relocatable, backend.find_linker(environment))


def _relative(file: PurePath, folder: Path) -> PurePath:
    if not file.is_absolute():
        return file
    if file.is_relative_to(folder):
        return file.relative_to(folder)
    package = Path(file).parent
    while (package / "__init__.py").is_file():
        package = package.parent
    return file.relative_to(package)


def _text(quoted: str) -> str:
    """Return what a string of LLVM's says, whose escapes are two hexadecimal digits each."""
    data = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), quoted)
    return data.encode("latin-1", "surrogateescape").decode(errors="surrogateescape")


def _quoted(text: str) -> str:
    data = text.encode(errors="surrogateescape")
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02x}" for byte in data
    )
