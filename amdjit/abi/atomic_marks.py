"""How the line table of compiled code says which accesses are atomic, and for whom.

gfx9 and gfx11 store atomically with the instructions of plain stores, and no family but gfx12 and
gfx942 says an access's scope in its bits. The backend gives atomic instructions a discriminator
(DWARF 5, 6.2.2) that names the scope; the emulator's race check reads it.
"""

from __future__ import annotations

PRODUCER = "amdjit"

# LLVM AMDGPU guide, "Memory Scopes", as numbers of the ISA (RDNA 4 ISA, 4.1.1).
_SCOPES = {"singlethread": 0, "wavefront": 0, "workgroup": 1, "agent": 2, "system": 3}


def discriminator_of(scope: str) -> int:
    """Return the discriminator of an atomic access with one of LLVM's scopes; "" is the system."""
    return 1 + _SCOPES[scope or "system"]


def scope_of(discriminator: int) -> int | None:
    """Return the scope that a discriminator names, None if it marks no atomic access."""
    scope = discriminator - 1
    return scope if scope in _SCOPES.values() else None
