"""Where arrays lie: memories of the device, and layouts in them."""

from __future__ import annotations

from enum import Enum


class AddressSpace(Enum):
    """Memories of the device, with the number that the LLVM AMDGPU guide gives them ("Address
    Spaces")."""

    GENERIC = 0
    GLOBAL = 1
    LDS = 3
    CONSTANT = 4
    PRIVATE = 5
    BUFFER = (
        8  # not memory: a buffer resource, the 128-bit descriptor that buffer instructions take
    )


class Layout(Enum):
    """How an array lies in memory."""

    ANY = "as the argument is"
    CONTIGUOUS = "C-contiguous"
    ROWS = (
        "rows: strided, but neighbours along the last axis lie side by side, and no stride is "
        "negative"
    )
    STRIDED = "strided"

    @property
    def has_strides(self) -> bool:
        """Whether strides are passed along, since they do not follow from the shape."""
        return self in (Layout.ROWS, Layout.STRIDED)
