"""Objects to code objects: lld, called as clang calls it for amdhsa."""

from __future__ import annotations

from amdjit.backend.tools import Linker, find_linker, run_tool
from amdjit.code_object.elf import read_elf
from amdjit.diagnostics.errors import BackendError

__all__ = ["Linker", "find_linker", "link"]


def link(relocatable: bytes, linker: Linker) -> bytes:
    """Return the shared ELF that devices load; BackendError if a symbol is undefined or the linker
    fails."""
    linked = run_tool([*linker.command, "-shared", "--no-undefined"], "linking", relocatable, ".o")
    undefined = [
        symbol.name
        for symbol in read_elf(linked).dynamic_symbols()
        if symbol.name and not symbol.section
    ]
    if undefined:
        raise BackendError(
            f"the linked code object lacks {', '.join(undefined)}, which nothing defines"
        )
    return linked
