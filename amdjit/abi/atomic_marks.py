"""How compiled code says which accesses are atomic, and for whom, and where its fences are.

gfx9 and gfx11 store atomically with the instructions of plain stores, and no family but gfx12 and
gfx942 says an access's scope in its bits. The backend gives atomic instructions a discriminator
(DWARF 5, 6.2.2) that names the scope; the emulator's race check reads it.

Many fences become no instruction, or a wait that LLVM needs for other reasons, too. In code for
checked launches an S_NOP stands before each, one that takes no more than a cycle: its immediate
says what it marks in bits that the hardware ignores.
"""

from __future__ import annotations

PRODUCER = "amdjit"
# The immediates of S_NOP. FENCES_MARKED: at a kernel's start. FENCE_MARK: a fence or a barrier of
# the wave. RELEASE_MARK: a fence that releases to the device.
FENCES_MARKED, FENCE_MARK, RELEASE_MARK = 0x5000, 0x5100, 0x5300

# LLVM AMDGPU guide, "Memory Scopes", as numbers of the ISA (RDNA 4 ISA, 4.1.1).
_SCOPES = {"singlethread": 0, "wavefront": 0, "workgroup": 1, "agent": 2, "system": 3}


def discriminator_of(scope: str) -> int:
    """Return the discriminator of an atomic access with one of LLVM's scopes; "" is the system."""
    return 1 + _SCOPES[scope or "system"]


def reaches_device(scope: str) -> bool:
    """Whether one of LLVM's scopes holds other workgroups."""
    return _SCOPES[scope or "system"] >= _SCOPES["agent"]


def scope_of(discriminator: int) -> int | None:
    """Return the scope that a discriminator names, None if it marks no atomic access."""
    scope = discriminator - 1
    return scope if scope in _SCOPES.values() else None
