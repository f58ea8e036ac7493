"""Numba's functions of a warp, on waves of 32 lanes, or of 64 lanes with 64-bit masks.

CUDA's masks name the lanes that take part, all of which must then arrive. A wave's lanes run
together, so here the active lanes take part; the votes of lanes that a mask leaves out do not
count. If a lane of the mask is not active, an assertion fails, except for the usual mask of all
lanes, with which programs also run blocks of less than a warp. In a wave of 64 lanes, the constant
0xFFFFFFFF also means all lanes, since programs for CUDA know no other mask.
"""

from __future__ import annotations

from typing import Any

from amdjit.declarations import Property, device_function
from amdjit.intrinsics import sync, wave
from amdjit.intrinsics.wave import lane_id, wavefront_size
from amdjit.intrinsics.workitem import blockDim, flat_work_item_id
from amdjit.language.compile_time import Compilation, Refused, compile_time
from amdjit.types import Scalar, Type, boolean, i32, i64, u32, u64

__all__ = [
    "activemask",
    "all_sync",
    "any_sync",
    "ballot_sync",
    "eq_sync",
    "laneid",
    "lanemask_lt",
    "match_all_sync",
    "match_any_sync",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "syncwarp",
    "warpsize",
]

laneid = Property(lane_id)
warpsize = wavefront_size

_ALL = 0xFFFFFFFF


def _is_integer(value: Any) -> bool:
    kind = value if isinstance(value, Type) else type(value)
    return kind is int or (isinstance(kind, Scalar) and kind.is_integer)


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Type) else repr(value)


@compile_time
def _vote(compilation: Compilation, predicate: Any) -> None:
    """Raise `Refused` for values that are not votes."""
    if not (_is_integer(predicate) or isinstance(predicate, bool) or predicate is boolean):
        raise Refused(
            f"Predicate must be an integer or boolean, not {_shown(predicate)}",
            "compare it: `x != 0`",
        )


@compile_time
def _names_all(compilation: Compilation, mask: Any) -> bool:
    """Return whether a mask is known to name all lanes. It raises Refused for anything but a
    mask."""
    if not _is_integer(mask):
        raise Refused(
            f"Mask type must be an integer, not {_shown(mask)}", "write one such as 0xFFFFFFFF"
        )
    return isinstance(mask, int) and mask & _ALL == _ALL and (mask >> 32) in (0, -1, _ALL)


@compile_time
def _mask_type(compilation: Compilation) -> Scalar:
    """Return the type of a mask: one bit for each lane of the wave."""
    return u32 if compilation.wave_size == 32 else u64


@compile_time
def _vote_type(compilation: Compilation) -> Scalar:
    """Return the type of the lane masks that Numba's functions return, which is signed."""
    return i32 if compilation.wave_size == 32 else i64


@device_function
def _voted(predicate):
    """Return one bit for each active lane, set if the predicate is true."""
    return _mask_type()(wave.ballot64(bool(predicate)))


@device_function
def _all_lanes():
    return ~_mask_type()(0)


@device_function
def _lanes_of(mask):
    """Return the mask's lanes; fail if one of them exists and is not active."""
    if _names_all(mask):
        return _all_lanes()
    lanes, size = _mask_type()(mask), u32(wavefront_size)
    rest = u32(blockDim.x * blockDim.y * blockDim.z) - (u32(flat_work_item_id()) & ~(size - u32(1)))
    there = _all_lanes() if rest >= size else _mask_type()((u64(1) << u64(rest)) - u64(1))
    assert (lanes & there & ~_voted(True)) == 0, (
        "a lane of the mask is elsewhere: on an AMD GPU the lanes of a wave that take part must "
        "be active at the same time"
    )
    return lanes


@device_function
def shfl_sync(mask, value, src_lane):
    """Return the value of another lane."""
    _lanes_of(mask)
    return wave.shuffle(value, i32(src_lane))


@device_function
def shfl_up_sync(mask, value, delta):
    """Return the value of the lane `delta` below; the lowest lanes keep their own."""
    _lanes_of(mask)
    return wave.shuffle_up(value, i32(delta))


@device_function
def shfl_down_sync(mask, value, delta):
    """Return the value of the lane `delta` above; the highest lanes keep their own."""
    _lanes_of(mask)
    return wave.shuffle_down(value, i32(delta))


@device_function
def shfl_xor_sync(mask, value, lane_mask):
    """Return the value of the lane whose number differs in the bits of `lane_mask`."""
    _lanes_of(mask)
    return wave.shuffle_xor(value, i32(lane_mask))


@device_function
def ballot_sync(mask, predicate):
    """Return one bit for each lane of the mask, set if the predicate is true."""
    _vote(predicate)
    return _vote_type()(_voted(predicate) & _lanes_of(mask))


@device_function
def all_sync(mask, predicate):
    """Return whether the predicate is true in every lane of the mask."""
    _vote(predicate)
    return (_voted(not predicate) & _lanes_of(mask)) == 0


@device_function
def any_sync(mask, predicate):
    """Return whether the predicate is true in a lane of the mask."""
    return ballot_sync(mask, predicate) != 0


@device_function
def eq_sync(mask, predicate):
    """Return whether the predicate is the same in all lanes of the mask."""
    _vote(predicate)
    lanes = _lanes_of(mask)
    votes = _voted(predicate) & lanes
    return votes == 0 or votes == (lanes & _voted(True))


@device_function
def match_any_sync(mask, value):
    """Return the lanes of the mask whose value has the same bits as this lane's."""
    return _vote_type()(_mask_type()(wave.match_any(value)) & _lanes_of(mask))


@device_function
def match_all_sync(mask, value):
    """Return the mask and True where all its lanes have the same bits, else 0 and False."""
    same = wave.match_all(value)
    lanes = _lanes_of(mask) & _voted(True)
    return _vote_type()(lanes if same else _mask_type()(0)), same


@device_function
def activemask():
    """Return one bit for each lane, set if it is active."""
    return _voted(True)


@device_function
def lanemask_lt():
    """Return one bit for each lane, set if it is below this one."""
    return _mask_type()((u64(1) << u64(lane_id())) - u64(1))


@device_function
def syncwarp(mask=_ALL):
    """Order the wave's memory accesses."""
    _lanes_of(mask)
    sync.wave_barrier()
