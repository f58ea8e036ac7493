"""Elements moved to other places."""

from __future__ import annotations

from typing import no_type_check

from amdjit.algorithms.kernels.values import store
from amdjit.api import kernel
from amdjit.declarations import device_function
from amdjit.intrinsics.workitem import blockIdx, threadIdx
from amdjit.types import Const, u8

__all__ = ["BLOCK", "gather_rows", "nan_placement", "take_field"]

BLOCK = 256


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def gather_rows(index_type: Const, rows, order, out):
    """out[row, i] = rows[row, order[row, i]]"""
    flat = index_type(blockIdx.x) * BLOCK + threadIdx.x
    length = out.shape[1]
    if flat < out.size:
        row, place = flat // length, flat % length
        store(out, (row, place), rows[row, index_type(order[row, place])])


@kernel(block=(BLOCK,), warnings=False)
@no_type_check
def take_field(index_type: Const, name: Const, records, out):
    """out[i] = records[i].name, of records that may lie at any address."""
    flat = index_type(blockIdx.x) * BLOCK + threadIdx.x
    if flat < out.size:
        record = records[flat]
        out[flat] = record[name]


@device_function
def nan_placement(z):
    """Return the parts of a complex number that are NaN as a number: 1 imaginary, 2 real.

    NumPy sorts by this first.
    """
    return u8(z.imag != z.imag) + u8(2) * u8(z.real != z.real)
