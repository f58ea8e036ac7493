"""Settings of Numba that programs for CUDA read and set. They change nothing: amdjit's own are in
docs/reference/options.md."""

from __future__ import annotations

ENABLE_CUDASIM = 0
"""0: amdjit's emulator runs compiled code, and is no simulator in Python."""


def __getattr__(name: str) -> int:
    """Return 0 for any other setting, which is off."""
    if not name.isupper():
        raise AttributeError(f"module 'numba.config' has no attribute {name!r}")
    return 0
