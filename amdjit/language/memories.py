"""Where arrays lie: the memories of a device, and the layouts of arrays."""

from __future__ import annotations

from enum import Enum


class AddressSpace(Enum):
    """The memories of a device, numbered as in the LLVM AMDGPU guide, "Address Spaces"."""

    GENERIC = 0
    GLOBAL = 1
    LDS = 3
    CONSTANT = 4
    PRIVATE = 5
    # Not memory but a buffer resource, the 128-bit descriptor that buffer instructions take.
    BUFFER = 8


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
        """Whether strides are passed to the kernel because they do not follow from the shape."""
        return self in (Layout.ROWS, Layout.STRIDED)
