"""What compiled code says beside its instructions: which accesses are atomic and for whom, where
its fences are, and that an index is outside of a local array.
"""

from __future__ import annotations

PRODUCER = "amdjit"
# The immediates of S_NOP. FENCES_MARKED: at a kernel's start. FENCE_MARK: a fence or a barrier of
# the wave. RELEASE_MARK: a fence that releases to the device.
FENCES_MARKED, FENCE_MARK, RELEASE_MARK = 0x5000, 0x5100, 0x5300
# A `breakpoint()`, where `amdjit.debug` stops.
BREAK_MARK = 0x5500

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


# How code with the option `local_checks` tells the emulator of an index outside of a local array or
# of a vector, which may be in registers.
#
# It loads a byte of private memory that no work-item has: at `OUTSIDE`, plus the index.


OUTSIDE = 0x60000000
# Indices are limited to this many bits, with a sign.
INDEX_BITS = 28


def index_at(address: int) -> int | None:
    """Return the index that an address stands for, None if it is another one."""
    index = address - OUTSIDE
    return index if abs(index) < 1 << INDEX_BITS else None
