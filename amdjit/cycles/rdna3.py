"""What the cycle model knows of RDNA 3 and 3.5 (gfx11): the rows that differ from RDNA 4's."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.cycles.parameters import Parameter, Source

__all__ = ["RDNA3", "RDNA35"]

_TRACES = "traces of gfx1100: "


def _row(
    name: str, value: float, source: str, kind: Source = Source.MEASURED, unit: str = "cycles"
) -> Parameter:
    return Parameter(name, value, unit, source, kind)


_ROWS = (
    _row(
        "matrix bank conflict",
        2,
        _TRACES + "a WMMA takes 34 cycles, not 32, where A, B and C begin in one bank of VGPRs "
        "(discover_ops, 40 of 40); two of them: llvm/llvm-project 204254, of gfx1151",
    ),
    _row("salu by register", 1, _TRACES + "VALU waits for the SGPRs alone that it reads", unit=""),
    _row(
        "branch taken",
        26,
        _TRACES + "taken branch to next issue, behind s_delay_alu one more: 27 (224 of 240)",
    ),
    _row("barrier", 14, _TRACES + "last s_barrier to the next issue (4 of 4; others 12 to 15)"),
    _row("lds load", 27, _TRACES + "ds_load_b32 to s_waitcnt passed, 31 cycles (discover_ops)"),
    _row(
        "lds halves a stored dword",
        2,
        _TRACES + "ds_store_b32, b64 and b128 to s_waitcnt passed: 33, 35 and 39 cycles",
        unit="half cycles",
    ),
    _row("scalar cache latency", 27, _TRACES + "s_load_b32 to b128, hit (30 of b512)"),
    _row(
        "vector cache latency",
        66,
        _TRACES + "hits of global_load_b32, from issue to s_waitcnt passed 70 cycles, of b128 76",
    ),
    _row("L2 latency", 340, "ChipBenchmarker, an RX 7900 (chanzhennan/ChipBenchmarker)"),
    _row("DRAM latency", 551, "the same"),
    _row(
        "infinity cache latency",
        375,
        "Chips and Cheese measured 150 ns of vector loads on an RX 7900 XTX, here at 2.5 GHz",
        Source.ASSUMED,
    ),
)
RDNA3: Mapping[str, Parameter] = {row.name: row for row in _ROWS}
"""The rows of `parameters` and `memory_parameters` that differ on RDNA 3."""

RDNA35: Mapping[str, Parameter] = {
    **RDNA3,
    "branch taken": _row(
        "branch taken", 10, "traces of gfx1151: the same, 11 behind s_delay_alu (43 of 60)"
    ),
}
"""The same of RDNA 3.5."""
