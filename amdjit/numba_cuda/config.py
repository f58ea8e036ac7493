"""Settings of Numba that programs for CUDA read and set. Those that are not here change nothing:
amdjit's own are in docs/reference/options.md."""

from __future__ import annotations

import os

ENABLE_CUDASIM = 0
"""0: amdjit's emulator runs compiled code, and is no simulator in Python."""
CUDA_ARRAY_INTERFACE_SYNC = int(os.environ.get("NUMBA_CUDA_ARRAY_INTERFACE_SYNC", 1))
"""Whether the use of an array waits for the stream that its CUDA array interface names."""
CUDA_LOW_OCCUPANCY_WARNINGS = int(os.environ.get("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", 0))
"""Whether a launch of fewer than 128 blocks is warned of. Numba's default is 1; here most launches
run on the emulator, where few blocks are no loss."""
CUDA_WARN_ON_IMPLICIT_COPY = int(os.environ.get("NUMBA_CUDA_WARN_ON_IMPLICIT_COPY", 0))
"""Whether each launch warns of the NumPy arrays that it copies. Numba's default is 1; amdjit warns
by itself where launches copy the same array again and again."""


def __getattr__(name: str) -> int:
    """Return 0 for any other setting, which is off."""
    if not name.isupper():
        raise AttributeError(f"module 'numba.config' has no attribute {name!r}")
    return 0
