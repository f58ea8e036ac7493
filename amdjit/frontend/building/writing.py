"""Which arrays a kernel may write."""

from __future__ import annotations

from amdjit.diagnostics import codes
from amdjit.tree import nodes as tree
from amdjit.types import AddressSpace, Array

__all__ = ["check_writable"]


def check_writable(store: tree.Store) -> None:
    """Refuse a store to an array whose content is part of the code."""
    kind = store.array.type
    if isinstance(kind, Array) and kind.address_space is AddressSpace.CONSTANT:
        raise codes.error(
            codes.UNSUPPORTED_TARGET,
            store.span,
            what="an array of constants",
            remedy="its content is part of the code: pass the array as an argument, or copy it to "
            "a `local.array` or `shared.array`",
        )
