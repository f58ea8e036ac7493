"""A sample of a launch's workgroups: the memory that their waves are recorded in, and what was
recorded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import Kernel
from amdjit.code_object.resources import waves_by_lds, waves_by_vgprs
from amdjit.emulator.counting.layout import (
    BLOCKS,
    CHUNK_BYTES,
    CURSOR_ROW,
    LINES,
    POOL_ROW,
    REQUESTS,
    STREAM_ROW,
    STREAMS,
    UNRECORDED_AT,
    Cursor,
    Header,
    Stream,
)
from amdjit.emulator.counting.paths import NO_CHUNK, RecordedStreams, SpareMemory, StreamPool
from amdjit.emulator.counting.plan import CountingPlan
from amdjit.late_methods import dataclass
from amdjit.target import Target

__all__ = ["Sample", "SampleSize", "workgroups_of_rounds"]

Int64s = NDArray[np.int64]
_FOREVER = -1
# Bytes of the streams for each instruction: a block has more than one of them on average, and an
# access that scatters has 32 lines.
_STREAM_BYTES = {BLOCKS: 2, REQUESTS: 8, LINES: 32}


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Which workgroups to record: those whose number is a multiple of `stride`, at most
    `workgroups` of them, as far as they have no more than `instructions` in all waves."""

    stride: int
    workgroups: int
    instructions: int


def workgroups_of_rounds(kernel: Kernel, geometry: LaunchShape, target: Target, rounds: int) -> int:
    """Return how many workgroups a workgroup processor runs in some rounds of as many as it
    holds at a time."""
    metadata = kernel.metadata
    waves = -(-geometry.items // metadata.wave_size)
    lds = metadata.group_segment_bytes + geometry.dynamic_lds
    on_simd = min(
        waves_by_vgprs(metadata.vgpr_count, metadata.wave_size, target),
        waves_by_lds(lds, waves, target, kernel.descriptor.wgp_mode),
    )
    return rounds * max(1, on_simd * target.simds_per_workgroup_processor // waves)


class Sample:
    """The memory of one launch's sample; native code must not use it after it is gone.

    waves: of a workgroup.
    """

    def __init__(
        self, plan: CountingPlan, size: SampleSize, groups: int, waves: int, memory: SpareMemory
    ) -> None:
        self._memory = memory
        self._plan, self._size, self._groups, self._waves = plan, size, groups, waves
        self._numbers = range(0, groups, size.stride)[: size.workgroups]
        count = len(self._numbers) * waves
        self._pools: Int64s = np.zeros((len(STREAMS), POOL_ROW), np.int64)
        self._streams_of = [self._make_pool(stream, count) for stream in STREAMS]
        self._cursors: Int64s = np.zeros((max(count, 1), CURSOR_ROW), np.int64)
        self._cursors[:, Cursor.STEP] = np.dtype(np.int32).itemsize
        self._cursors[:, Cursor.POOLS] = self._pools.ctypes.data
        self._cursors[:, Cursor.OWNER] = np.arange(len(self._cursors))
        self._streams[:, :, Stream.CHUNK] = NO_CHUNK

    @property
    def _streams(self) -> Int64s:
        rows = self._cursors[:, Cursor.STREAMS : Cursor.STREAMS + len(STREAMS) * STREAM_ROW]
        return rows.reshape(-1, len(STREAMS), STREAM_ROW)

    def _make_pool(self, stream: int, waves: int) -> StreamPool:
        slack = 4 * (len(self._plan.blocks) + 1) if stream == BLOCKS else 0
        size = max(CHUNK_BYTES, 1 << (2 * slack - 1).bit_length())
        count = waves + self._size.instructions * _STREAM_BYTES[stream] // size
        return StreamPool(self._pools[stream], count, size, slack, self._memory)

    def write_header(self, area: Int64s) -> None:
        """Tell a host thread about the sample."""
        area[Header.STRIDE] = self._size.stride
        area[Header.SAMPLED] = len(self._numbers)
        area[Header.CURSORS] = self._cursors.ctypes.data

    def take(self) -> RecordedStreams:
        """Return what was recorded; the launch has ended."""
        chunks = [self._streams_of[stream].take(self._streams[:, stream]) for stream in STREAMS]
        fits = self._cursors[:, Cursor.STEP] != 0
        return RecordedStreams(
            tuple(self._numbers),
            self._waves,
            fits=fits,
            chunks=tuple(chunks),
            launched=self._groups,
            most=self._size.instructions,
        )

    def end(self) -> None:
        """The launch is over, however it went."""
        for pool in self._streams_of:
            pool.end()


def write_unrecorded(area: Int64s) -> None:
    """Make the cursor of waves that are not recorded, and record none at first."""
    area[Header.STRIDE] = 1
    cursor = area[UNRECORDED_AT : UNRECORDED_AT + CURSOR_ROW]
    blocks = cursor[Cursor.STREAMS : Cursor.STREAMS + STREAM_ROW]
    blocks[Stream.NEXT] = cursor.ctypes.data + Cursor.NOTHING * cursor.itemsize
    blocks[Stream.END] = _FOREVER
