"""Linking of objects to code objects: by amdjit's own linker, or by lld for objects that use what
it does not support."""

from __future__ import annotations

from amdjit.backend.linking.objects import NotPlain
from amdjit.backend.linking.plain import link_plain
from amdjit.backend.tools import Linker, OwnLinker, find_lld, run_tool
from amdjit.code_object import elf
from amdjit.diagnostics.errors import BackendError

__all__ = ["link"]


def link(relocatable: bytes, linker: Linker | OwnLinker) -> bytes:
    """Return the shared ELF that devices load; BackendError if a symbol is undefined, the linker
    fails, or there is none for an object that needs lld."""
    if isinstance(linker, Linker):
        return _linked_by(linker, relocatable)
    try:
        return link_plain(relocatable)
    except NotPlain as reason:
        try:
            lld = find_lld(linker.environment)
        except BackendError as error:
            raise BackendError(
                f"amdjit cannot link the object by itself, since {reason}, and there is {error}"
            ) from None
    return _linked_by(lld, relocatable)


def _linked_by(linker: Linker, relocatable: bytes) -> bytes:
    """Call lld as clang calls it for amdhsa."""
    linked = run_tool([*linker.command, "-shared", "--no-undefined"], "linking", relocatable, ".o")
    undefined = [
        symbol.name
        for symbol in elf.read_elf(linked).dynamic_symbols()
        if symbol.name and not symbol.section
    ]
    if undefined:
        raise BackendError(
            f"the linked code object lacks {', '.join(undefined)}, which nothing defines"
        )
    return linked
