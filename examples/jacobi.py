"""Solve Laplace's equation on a plate in a single launch: Jacobi's iteration, in which all
work-items of the grid meet after each step, until nothing changes by more than a tolerance.

A step reads one plate and writes the other, and notes its largest change. One barrier a step is
enough: what is read in a step is written in the next one, after the barrier, and each step has its
own place for the change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit import atomic, f32
from amdjit.examples.report import Report, compare
from amdjit.intrinsics import sync, wave

BLOCK = 256


@amdjit.kernel(block=BLOCK)
def jacobi(plates, changes, tolerance):
    first, step = amdjit.grid(1), amdjit.gridsize(1)
    columns = plates.shape[2] - 2
    inner = (plates.shape[1] - 2) * columns
    for number in range(changes.shape[0]):
        old, new = number % 2, (number + 1) % 2
        largest = f32(0)
        for place in range(first, inner, step):
            i, j = place // columns + 1, place % columns + 1
            above, below = plates[old, i - 1, j], plates[old, i + 1, j]
            left, right = plates[old, i, j - 1], plates[old, i, j + 1]
            value = ((above + below) + (left + right)) * 0.25
            largest = max(largest, abs(value - plates[old, i, j]))
            plates[new, i, j] = value
        largest = wave.reduce(largest, "max")
        if amdjit.lane_id() == 0:
            atomic.max(changes, number, largest)
        sync.grid()
        if changes[number] <= tolerance:  # the same for all work-items
            break


def in_numpy(
    plate: NDArray[np.float32], steps: int, tolerance: float
) -> tuple[NDArray[np.float32], int]:
    """Return the plate after as many steps, or fewer, and their number."""
    for number in range(steps):
        new = plate.copy()
        above_below = plate[:-2, 1:-1] + plate[2:, 1:-1]
        left_right = plate[1:-1, :-2] + plate[1:-1, 2:]
        new[1:-1, 1:-1] = (above_below + left_right) * np.float32(0.25)
        change = np.abs(new - plate).max()
        plate = new
        if change <= tolerance:
            return plate, number + 1
    return plate, steps


def main(rows: int = 32, columns: int = 48, steps: int = 100, tolerance: float = 5e-3) -> Report:
    """Heat one edge, and compare the plate with NumPy's after as many steps."""
    plate = np.zeros((rows, columns), np.float32)
    plate[0] = 1
    expected, taken = in_numpy(plate, steps, tolerance)
    plates, changes = np.stack([plate, plate]), np.zeros(steps, np.float32)
    inner = (rows - 2) * (columns - 2)
    jacobi.forall(inner, grid_stride=True)(plates, changes, np.float32(tolerance))
    assert np.count_nonzero(changes) == taken
    found = plates[taken % 2]
    return compare("jacobi", f"{taken} steps on a plate, one launch", found, expected)


if __name__ == "__main__":
    print(main())
