"""LLVM IR to code objects: optimise, emit, link; and assembly text to read.

`llvm` runs LLVM's own stages and amdjit's passes over their text, whose docstrings show what they
change: `signed_zeros`, `meeting_values`, `moved_lanes`, `table_addresses`, `blocks`, `lds`,
`libraries`.
`spilled_scalars` finds code that LLVM has to emit again. `guarded` runs these stages in a process
of its own (`process`, `worker`, `early`), because a mistake in LLVM ends the process. `variables`
keeps debug records from changing code. `link`, `assembler` and `tools` call LLVM's programs. The
backend knows IR, targets and options; it reads neither Python nor the tree. Start reading at
`llvm.optimise`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import llvmlite

from amdjit.backend.link import link
from amdjit.backend.ocml import find_ocml, read_library
from amdjit.backend.tools import Linker, OwnLinker, find_linker, find_lld

if TYPE_CHECKING:
    from amdjit.backend.assembler import find_assembler
    from amdjit.backend.assembly import annotate_assembly, emit_object, list_assembly
    from amdjit.backend.checks import has_inline_assembly
    from amdjit.backend.guarded import emit_assembly, optimise
    from amdjit.backend.moved_lanes import keep_moves_apart
    from amdjit.backend.variables import link_with_variables, without_records

__all__ = [
    "LLVM_VERSION",
    "Linker",
    "OwnLinker",
    "annotate_assembly",
    "emit_assembly",
    "emit_object",
    "find_assembler",
    "find_linker",
    "find_lld",
    "find_ocml",
    "has_inline_assembly",
    "keep_moves_apart",
    "link",
    "link_with_variables",
    "list_assembly",
    "llvm_version",
    "optimise",
    "read_library",
    "without_records",
]

LLVM_VERSION = f"llvmlite {llvmlite.__version__}"
"""Which LLVM compiles: part of the key of cached code."""

_MODULES = {
    "annotate_assembly": "amdjit.backend.assembly",
    "list_assembly": "amdjit.backend.assembly",
    "find_assembler": "amdjit.backend.assembler",
    "emit_assembly": "amdjit.backend.guarded",
    "emit_object": "amdjit.backend.assembly",
    "has_inline_assembly": "amdjit.backend.checks",
    "keep_moves_apart": "amdjit.backend.moved_lanes",
    "link_with_variables": "amdjit.backend.variables",
    "optimise": "amdjit.backend.guarded",
    "without_records": "amdjit.backend.variables",
}


def llvm_version() -> str:
    """Return the version of the LLVM in llvmlite, such as 22.1.0, which this loads."""
    binding = importlib.import_module("llvmlite.binding")
    return ".".join(map(str, binding.llvm_version_info))


def __getattr__(name: str) -> Any:
    # LLVM is loaded when one of these names is first used: code from the disk cache runs without
    # it.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
