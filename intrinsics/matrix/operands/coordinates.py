"""Where the waves of a launch stand: rocWMMA's MappingUtil, as pairs of indices.

The waves of a workgroup form a grid: the wave of work-item (x, y) is in row x // lanes, column y.
The waves of a launch thus tile a matrix, with rows along x. A workgroup's size along x is a
multiple of a wave's lanes.

Source: rocWMMA, internal/mapping_util.hpp.
"""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics.matrix.operands.parameters import DataLayout
from amdjit.intrinsics.wave import readfirstlane
from amdjit.intrinsics.workitem import blockDim, blockIdx, threadIdx, wavefront_size


@device_function
def wave_coord():
    """Return (row, column) of the wave in its workgroup, in scalar registers."""
    return readfirstlane(threadIdx.x // wavefront_size), readfirstlane(threadIdx.y)


@device_function
def workgroup_dim():
    """Return how many waves a workgroup has: (rows, columns)."""
    return blockDim.x // wavefront_size, blockDim.y


@device_function
def block_coord():
    """Return (row, column) of the wave's block among those of the launch, one per wave."""
    rows, columns = workgroup_dim()
    row, column = wave_coord()
    return blockIdx.x * rows + row, blockIdx.y * columns + column


@device_function
def matrix_coord(height, width):
    """Return (row, column) of the first element of the wave's block, for blocks of height by width
    elements."""
    row, column = block_coord()
    return row * height, column * width


@device_function
def data_offset(coordinate, ld, layout):
    """Return the offset of (row, column) in an array of one axis, with a distance ld between rows
    (or columns)."""
    row, column = coordinate
    return row * ld + column if layout is DataLayout.ROW_MAJOR else column * ld + row
