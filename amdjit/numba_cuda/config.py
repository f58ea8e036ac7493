"""Settings of Numba that programs for CUDA read and set. Those that are not here change nothing:
amdjit's own are in docs/reference/options.md."""

from __future__ import annotations

import os

ENABLE_CUDASIM = 0
"""0: amdjit's emulator runs compiled code, and is no simulator in Python."""


CUDA_ARRAY_INTERFACE_SYNC = int(os.environ.get("NUMBA_CUDA_ARRAY_INTERFACE_SYNC", 1))
"""Whether the use of an array waits for the stream that its CUDA array interface names."""


def __getattr__(name: str) -> int:
    """Return 0 for any other setting, which is off."""
    if not name.isupper():
        raise AttributeError(f"module 'numba.config' has no attribute {name!r}")
    return 0
