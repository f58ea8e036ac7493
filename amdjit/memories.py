"""Where arrays lie: memories of the device, and layouts in them."""

from __future__ import annotations

from enum import Enum


class AddressSpace(Enum):
    """Memories of the device, with the number that the LLVM AMDGPU guide gives them ("Address Spaces")."""

    GENERIC = 0
    GLOBAL = 1
    LDS = 3
    CONSTANT = 4
    PRIVATE = 5


class Layout(Enum):
    """How an array lies in memory."""

    ANY = "as the argument is"
    CONTIGUOUS = "C-contiguous"
    STRIDED = "strided"
