"""Conditions of all lanes as the bits of a number, which has as many as a wave has lanes."""

from __future__ import annotations

from amdjit.declarations import device_function
from amdjit.intrinsics import wave
from amdjit.intrinsics.numbers.integers import clz
from amdjit.intrinsics.workitem import lane_id
from amdjit.language.compile_time import Compilation, compile_time
from amdjit.types import i32, u32, u64

__all__ = ["highest_lane", "lanes_below", "votes_of", "waves_of"]


@compile_time
def _is_wide(compilation: Compilation) -> bool:
    return compilation.wave_size == 64


@compile_time
def waves_of(compilation: Compilation, work_items: int) -> int:
    """Return how many waves a workgroup has."""
    return work_items // compilation.wave_size


@device_function
def votes_of(flag):
    """Return the lanes in which a condition holds."""
    if _is_wide():
        return wave.ballot64(flag)
    return wave.ballot(flag)


@device_function
def lanes_below():
    """Return the lanes with lower numbers than this one."""
    if _is_wide():
        return (u64(1) << u64(lane_id())) - 1
    return (u32(1) << u32(lane_id())) - 1


@device_function
def highest_lane(votes):
    """Return the highest lane of some."""
    return votes.dtype.bits - 1 - i32(clz(votes))
