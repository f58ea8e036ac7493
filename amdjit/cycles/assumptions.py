"""What an estimate rests on that no measurement covers, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from amdjit.cycles.chip import Chip
from amdjit.cycles.program import Kind, ProgramTable, Step
from amdjit.cycles.results import SimulatedWave
from amdjit.cycles.sample import Footprint
from amdjit.emulator.counting.layout import LINE_BYTES

__all__ = ["sentences"]


def sentences(
    chip: Chip,
    table: ProgramTable,
    waves: list[SimulatedWave],
    footprint: Footprint,
    wave_size: int,
    extrapolated: int,
) -> tuple[str, ...]:
    """Return the assumptions that matter for an estimate. extrapolated: workgroups of a workgroup
    processor that were not simulated."""
    executed = np.unique(np.concatenate([wave.path for wave in waves]))
    kinds = {Kind(int(kind)) for kind in np.unique(table.steps[executed, Step.KIND])}
    found = [
        f"Seconds are at the boost clock of the {chip.product}, {chip.clock / 1e9:g} GHz: clocks "
        "under load are not modelled.",
        "Instructions are in the instruction cache.",
    ]
    if Kind.VECTOR_MEMORY in kinds:
        found += _of_memory(chip, footprint)
    if Kind.SCALAR_MEMORY in kinds:
        found.append("Scalar loads that hit their cache take as long as the fastest ones traced.")
    if wave_size != 32:
        found.append("Traces are of wave32 only: a wave64 is taken to pass each unit twice.")
    if extrapolated:
        found.append(
            f"{extrapolated} more workgroups of each workgroup processor take as long as the last "
            "round that was simulated."
        )
    return tuple(found)


def _of_memory(chip: Chip, footprint: Footprint) -> Iterator[str]:
    nbytes = footprint.lines * LINE_BYTES
    about = "" if footprint.is_exact else "about "
    fits = nbytes <= chip.infinity_bytes
    yield (
        "Latencies of the caches and of memory, and how bandwidth is shared among workgroup "
        "processors, are assumed: traces exist of cold caches only."
    )
    yield (
        f"The launch touches {about}{nbytes / 2**20:.3g} MiB; what "
        + (
            "it reads first comes from the Infinity Cache, as after an earlier launch on the same "
            "data."
            if fits
            else "L2 does not hold comes from DRAM."
        )
    )
