"""Histograms over uniform or given bins."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.algorithms.elements import kind_of
from amdjit.algorithms.kernels.counting import (
    BLOCK,
    count_bins,
    searched_bin,
    uniform_bin,
    unit_bin,
)
from amdjit.algorithms.outputs import contiguous
from amdjit.algorithms.placement import Placement, placement
from amdjit.algorithms.reduction import reduce
from amdjit.algorithms.views import index_type
from amdjit.arrays.creation import to_device, zeros
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.streams import Stream
from amdjit.types import Scalar, f32

__all__ = ["histogram"]

_MOST_WORKGROUPS, _ELEMENTS_PER_WORK_ITEM = 512, 16
# Bins for which each workgroup counts in LDS: 16 KiB, so that four workgroups share a processor.
_MOST_IN_LDS = 4096


def histogram(
    array: Any,
    bins: Any = 10,
    range: tuple[Any, Any] | None = None,
    *,
    stream: Stream | None = None,
) -> Any:
    """Count an array's elements by bins, as `numpy.histogram` does: returns counts and edges.

    bins: their number, or the edges in ascending order. range: the ends of uniform bins, by default
    the least and the greatest element. The last bin includes its end, elements outside are not
    counted. counts: i64, the same in each run. Integers in bins of width 1, `bins=n, range=(0, n)`,
    cost least. ValueError for bins and ranges that NumPy refuses, TypeError for elements that are
    no real numbers.
    """
    with placement((array,), stream) as place:
        source = place.place(array, "array")
        kind = kind_of(source.dtype)
        if not isinstance(kind.constructor, Scalar):
            raise TypeError(f"histogram takes real numbers, not {source.dtype}")
        flat = contiguous(source, place).reshape(-1)
        dtype = np.dtype(np.uint8) if kind.dtype == np.bool_ else kind.dtype
        if np.ndim(bins) == 0:
            count = _bin_count(bins)
            edges = _uniform_edges(
                flat, dtype, scalar=kind.constructor, count=count, ends=range, place=place
            )
            is_unit = dtype.kind in "iu" and _are_unit(edges, dtype)
            find = unit_bin if is_unit else uniform_bin
        else:
            edges, find = _given_edges(bins), searched_bin
        counts = _counts(flat, edges, find, place)
        ends = to_device(edges, place.stream)
        return place.returned(counts), (ends if place.on_device else edges)


def _bin_count(bins: Any) -> int:
    try:
        count = operator.index(bins)
    except TypeError:
        raise TypeError(f"bins={bins!r}: give an integer, or an array of edges") from None
    if count < 1:
        raise ValueError(f"bins={count}: there is at least one bin")
    return count


def _uniform_edges(
    flat: DeviceArray,
    dtype: np.dtype[Any],
    scalar: Scalar,
    count: int,
    ends: tuple[Any, Any] | None,
    place: Placement,
) -> NDArray[Any]:
    """Return NumPy's edges, which it makes from the least and the greatest element alone."""
    sample = np.zeros(0, dtype)
    if ends is None and flat.size:
        least = reduce(min, flat, stream=place.stream).copy_to_host(stream=place.stream)
        greatest = reduce(max, flat, stream=place.stream).copy_to_host(stream=place.stream)
        sample = np.array([least, greatest], dtype)
    if scalar.is_float and scalar.bits < f32.bits and scalar.dtype != np.float16:
        sample = sample.astype(np.float32)
    return np.histogram_bin_edges(sample, count, ends)


def _are_unit(edges: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return bool(
        limits.min <= edges[0]
        and edges[0] <= limits.max
        and np.array_equal(edges, np.arange(len(edges)) + np.floor(edges[0]))
    )


def _given_edges(bins: Any) -> NDArray[Any]:
    edges = bins.copy_to_host() if isinstance(bins, DeviceArray) else np.asarray(bins)
    if edges.ndim != 1 or len(edges) < 2:
        raise ValueError("bins: give their number, or an array of one axis with two edges or more")
    if edges.dtype.kind not in "iuf" or not bool(np.all(edges[:-1] <= edges[1:])):
        raise ValueError("bins: the edges must be real numbers that increase")
    return edges


def _counts(flat: DeviceArray, edges: NDArray[Any], find: Any, place: Placement) -> DeviceArray:
    bins = len(edges) - 1
    counts = zeros(bins, np.int64, place.stream)
    if flat.size == 0:
        return counts
    in_lds = bins <= _MOST_IN_LDS
    groups = -(-flat.size // (BLOCK * _ELEMENTS_PER_WORK_ITEM))
    groups = min(groups, _MOST_WORKGROUPS)
    index = index_type([flat], flat.size + groups * BLOCK)
    ends = to_device(edges, place.stream)
    first = flat.dtype.type(edges[0]) if find is unit_bin else np.int32(0)
    count_bins[groups, BLOCK, place.stream, 4 * bins if in_lds else 0](
        find, in_lds, index, flat, ends, first, counts
    )
    return counts
