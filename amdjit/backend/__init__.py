"""LLVM IR to code objects: optimise, emit, link; and assembly text to read."""

from __future__ import annotations

from amdjit.backend.assembly import annotate_assembly
from amdjit.backend.emit import emit_object
from amdjit.backend.libraries import find_ocml, read_library
from amdjit.backend.link import link
from amdjit.backend.llvm import TRIPLE, emit_assembly, optimise
from amdjit.backend.tools import Linker, find_linker

__all__ = [
    "TRIPLE",
    "Linker",
    "annotate_assembly",
    "emit_assembly",
    "emit_object",
    "find_linker",
    "find_ocml",
    "link",
    "optimise",
    "read_library",
]
