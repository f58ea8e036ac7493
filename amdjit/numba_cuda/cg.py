"""Numba's `cuda.cg`: cooperative groups."""

from amdjit.intrinsics.cooperative_groups import this_grid as this_grid

__all__ = ["this_grid"]
