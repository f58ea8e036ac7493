"""One kernel source for processors with waves of 32 lanes (RDNA) and of 64 (CDNA).

Fragments know the lanes of a wave themselves. What is left to the program is the workgroup: as many
waves have twice the work-items on CDNA.
"""

from __future__ import annotations

from functools import cache

import amdjit


def lanes() -> int:
    """Return the lanes of a wave on the current device."""
    return amdjit.current_device().target.wave_size


def of_waves(kernel: amdjit.Kernel, waves: int) -> amdjit.Kernel:
    """Return a kernel of workgroups of `waves` times 32 work-items for the current device's waves:
    itself on RDNA, and on CDNA the same function for `waves` times 64."""
    return kernel if lanes() == 32 else _of_64_lanes(kernel, waves)


@cache
def _of_64_lanes(kernel: amdjit.Kernel, waves: int) -> amdjit.Kernel:
    return amdjit.kernel(block=(64 * waves, 1, 1))(kernel.function)
