"""LLVM IR to code objects: optimise, emit, link; and assembly text to read.

`llvm` runs LLVM's own stages and amdjit's passes over their text, whose docstrings show what they
change: `selection_losses`, `phi_inputs`, `dpp_moves`, `masked_addresses`, `blocks`, `lds`,
`libraries`. `isolated` runs these stages in a child process (`process`, `worker`; `prestart` starts
it ahead of time), because a mistake in LLVM ends the process that it runs in. `variables` keeps
debug records from changing code. `link` and `tools` call LLVM's programs. The backend knows IR,
targets and options; it reads neither Python nor the tree. Start reading at `llvm.optimise`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import llvmlite

from amdjit.backend.link import link
from amdjit.backend.ocml import find_ocml, read_library
from amdjit.backend.tools import Linker, OwnLinker, find_linker, find_lld
from amdjit.late import late_names, load_module

if TYPE_CHECKING:
    from amdjit.backend.assembly import annotate_assembly, emit_object, list_assembly
    from amdjit.backend.checks import has_inline_assembly
    from amdjit.backend.dpp_moves import fence_all_moves
    from amdjit.backend.isolated import emit_assembly, optimise
    from amdjit.backend.tools import find_assembler
    from amdjit.backend.variables import link_with_variables, without_records

__all__ = [
    "LLVM_VERSION",
    "Linker",
    "OwnLinker",
    "annotate_assembly",
    "emit_assembly",
    "emit_object",
    "fence_all_moves",
    "find_assembler",
    "find_linker",
    "find_lld",
    "find_ocml",
    "has_inline_assembly",
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
    "find_assembler": "amdjit.backend.tools",
    "emit_assembly": "amdjit.backend.isolated",
    "emit_object": "amdjit.backend.assembly",
    "has_inline_assembly": "amdjit.backend.checks",
    "fence_all_moves": "amdjit.backend.dpp_moves",
    "link_with_variables": "amdjit.backend.variables",
    "optimise": "amdjit.backend.isolated",
    "without_records": "amdjit.backend.variables",
}


def llvm_version() -> str:
    """Return the version of the LLVM in llvmlite, such as 22.1.0, which this loads."""
    binding: Any = load_module("llvmlite.binding")
    return ".".join(map(str, binding.llvm_version_info))


# LLVM is loaded when one of these names is first used: code from the disk cache runs without it.
__getattr__ = late_names(__name__, _MODULES)
