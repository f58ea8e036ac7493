"""What the cycle model knows of CDNA 3 and 4 (gfx942, gfx950): the rows of `parameters` and
`memory_parameters` for them, and how their vector ALU takes instructions.

A SIMD of 16 lanes takes four cycles, a quantum, for an instruction of 64 lanes, and each SIMD of a
compute unit issues once a quantum, one instruction of each kind, from different waves. So the
simulation counts in quanta; parameters are in cycles, as everywhere. An instruction waits for its
unit before it is issued: units have no queues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from amdjit.cycles.engine.layout import PLACES, Row
from amdjit.cycles.parameters import (
    CDNA_PASSES,
    PARAMETERS,
    Parameter,
    Source,
    passes_name,
)
from amdjit.cycles.program import QUANTUM, Step
from amdjit.isa.traits import Timing

__all__ = [
    "CDNA_MEMORY",
    "CDNA_OWN",
    "CDNA_PARAMETERS",
    "describe_cdna",
    "lds_quanta",
]

Int64s = NDArray[np.int64]
Cycles = TypeVar("Cycles", int, Int64s)

_TRACES = "traces of gfx950: "


def _row(
    name: str, value: float, source: str, kind: Source = Source.MEASURED, unit: str = "cycles"
) -> Parameter:
    return Parameter(name, value, unit, source, kind)


_NONE = "instructions are executed when they are issued"
_OWN_ROWS = (
    _row("valu done", 12, _TRACES + "VALU to the next LDS or memory instruction (53 of 69)"),
    _row("valu dependency", 4, _TRACES + "issue of VALU to its reader's (45 of 52)"),
    _row("salu dependency", 4, _TRACES + "issue to issue (15 of 16)"),
    _row("salu to valu", 4, _TRACES + "issue to issue (63 of 72)"),
    _row("salu done", 4, _TRACES + "SALU to VALU that uses SGPRs (63 of 72)"),
    _row("salu to memory", 8, _TRACES + "SALU to a memory instruction (3 of 4)"),
    _row("scc to branch", 8, _TRACES + "SALU to branch (4 of 4)"),
    _row("branch taken", 20, _TRACES + "taken branch to next issue (57 of 60)"),
    _row("branch not taken", 4, _TRACES + "(4 of 8)"),
    _row("immediate after issue", 4, _TRACES + "s_waitcnt and s_nop (r_2_8_16_4_4_16_4)"),
    _row("transfer start", 0, _TRACES + "loads are issued every 4 cycles (279 of 454)"),
    _row("transfer done", 0, _TRACES + "VALU 4 cycles after a load (r_32_32_16_2)"),
    _row("transfer queue place", 0, _TRACES + "stores of 16 bytes every 20 cycles (10 of 12)"),
    _row("transfer queue", 1, _TRACES + "the same", unit="instructions"),
    _row("lds load", 44, _TRACES + "ds_read_b128 to s_waitcnt passed: 48 to 52 cycles (4)"),
    _row("lds store", 44, _TRACES + "ds_write_b32 to s_waitcnt passed: 52 cycles (4)"),
    _row("lds backlog", 128, "no source", Source.ASSUMED),
    _row("valu queue", 1, "no queue: see docs/cycles.md", Source.DOCUMENTED, "instructions"),
    _row("salu queue", 1, "the same", Source.DOCUMENTED, "instructions"),
    _row("valu scalar results", PLACES - 1, "no limit is known", Source.ASSUMED, "instructions"),
    _row("transcendental moves", 1, _NONE, Source.DOCUMENTED, "places"),
    _row("barrier", 16, "no source: 13 cycles of RDNA 4, in quanta", Source.ASSUMED),
    _row("barrier signal", 4, "no source: an instruction", Source.ASSUMED),
    _row("wave start", 28, "no source: 26 cycles of RDNA 4, in quanta", Source.ASSUMED),
    _row("simds of a vector cache", 4, "AMD CDNA 3 white paper", Source.DOCUMENTED, unit="SIMDs"),
)
CDNA_OWN: Mapping[str, Parameter] = {row.name: row for row in _OWN_ROWS}
"""The rows that have a value on CDNA, by name."""
# The others say how long an instruction is in a queue, or are of what only RDNA has: 0.
CDNA_PARAMETERS: Mapping[str, Parameter] = {
    name: CDNA_OWN.get(name, _row(name, 0, _NONE, Source.DOCUMENTED)) for name in PARAMETERS
}
"""The rows of `parameters.PARAMETERS` for CDNA, by name."""

_MT4G = "MT4G, sample results of an MI300X at 2.1 GHz (caps-tum/mt4g)"
_PEAKS = "rocprofiler-compute, peaks of gfx942 and gfx950"
_WHITE_PAPER = "AMD CDNA 3 white paper"
CDNA_MEMORY: Mapping[str, Parameter] = {
    row.name: row
    for row in (
        _row("vector cache bytes", 32 << 10, _WHITE_PAPER, Source.DOCUMENTED, "bytes"),
        _row("scalar cache bytes", 16 << 10, _WHITE_PAPER, Source.DOCUMENTED, "bytes"),
        _row("vector cache latency", 116, _MT4G),
        _row("scalar cache latency", 48, _MT4G),
        _row("L2 latency", 288, _MT4G),
        _row(
            "infinity cache latency",
            600,
            "no source: between L2 and memory",
            Source.ASSUMED,
        ),
        _row("DRAM latency", 900, _MT4G),
        _row("vector cache bytes a cycle", 128, _PEAKS, Source.DOCUMENTED, "bytes"),
        _row("scalar cache bytes a cycle", 64, _PEAKS, Source.DOCUMENTED, "bytes"),
    )
}
"""The rows of `memory_parameters.MEMORY_PARAMETERS` for CDNA, by name."""


def lds_quanta(cycles: Cycles) -> Cycles:
    """Return how many quanta an LDS instruction occupies its pair of SIMDs, given its cycles on
    the whole LDS: each of a compute unit's two pairs has half the bandwidth (rocprofiler-compute,
    "Local data share": 64 bytes a clock for each pair)."""
    return -(-2 * cycles // QUANTUM)


def describe_cdna(
    row: Int64s, step: NDArray[np.int32], timing: Timing, values: Mapping[str, float]
) -> None:
    """Fill in what a row says of the units."""
    row[Row.SALU_CYCLES] = 1
    row[Row.WRITES_CARRY] = 0
    latency = values["lds load" if step[Step.RESULT] else "lds store"]
    row[Row.LDS_LATENCY] = int(latency) // QUANTUM
    product, alone = int(step[Step.PASSES]), int(step[Step.ALONE])
    cycles = values.get(passes_name(timing), CDNA_PASSES.get(timing, QUANTUM))
    passes = product or max(1, int(cycles) // QUANTUM)
    row[Row.PASSES] = passes
    row[Row.LAST_PASS] = passes - 1
    row[[Row.AT_ISSUE, Row.PACE, Row.MATRIX_AFTER]] = 1
    row[Row.IS_MATRIX], row[Row.IS_ORDINARY] = product > 0, product == 0
    # The next instruction may be issued when the vector ALU is free: counted from the last pass.
    busy = alone or passes
    row[Row.FREE_AFTER] = busy - (passes - 1)
    row[Row.LEAD] = passes - 1 - busy
    row[Row.BESIDE] = passes - 1 if product else 0
    row[Row.LDS_CYCLES] = lds_quanta(max(1, int(step[Step.LDS_CYCLES])))
