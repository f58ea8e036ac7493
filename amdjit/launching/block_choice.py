"""The choice of the block for `kernel.forall(n)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amdjit.late import late
from amdjit.launching.specialisations import Loaded
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.code_object import resources
else:
    resources = late("amdjit.code_object.resources")

__all__ = ["choose_block"]

# In the order of preference where they allow the same occupancy: 256 work-items suit most kernels.
_BLOCKS = (256, 128, 512, 1024, 64)


def choose_block(loaded: Loaded, target: Target, dynamic_lds: int) -> tuple[int, int, int]:
    """Return the one-dimensional block that lets a SIMD hold the most waves of the kernel."""
    required = loaded.compiled.options.required_workgroup_size
    if required is not None:
        return required
    wave_size = loaded.compiled.options.wave_size
    lds = loaded.static_lds + dynamic_lds
    fitting = [size for size in _BLOCKS if size <= loaded.max_workgroup_size]
    best = max(
        fitting or [loaded.max_workgroup_size],
        key=lambda size: resources.waves_by_lds(lds, -(-size // wave_size), target),
    )
    return best, 1, 1
