"""What the cycle model takes for the memory system. No trace covers it: all recorded kernels ran
with cold caches, at a clock that is not known."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.cycles.parameters import Parameter, Source

__all__ = ["MEMORY_PARAMETERS"]

_DOCUMENTED = "AMD RDNA 4 ISA and product pages"
_RDNA3 = "Chips and Cheese measured 150 ns of vector loads on an RX 7900 XTX (RDNA 3), at 2.97 GHz"


def _assumed(name: str, value: float, unit: str, source: str) -> Parameter:
    return Parameter(name, value, unit, source, Source.ASSUMED)


MEMORY_PARAMETERS: Mapping[str, Parameter] = {
    row.name: row
    for row in (
        Parameter("vector cache bytes", 32 << 10, "bytes", _DOCUMENTED, Source.DOCUMENTED),
        Parameter("scalar cache bytes", 16 << 10, "bytes", _DOCUMENTED, Source.DOCUMENTED),
        _assumed(
            "vector cache latency",
            66,
            "cycles",
            "as on gfx1100, where a trace shows hits of global_load_b32: 70 cycles from issue to "
            "s_waitcnt passed",
        ),
        _assumed(
            "scalar cache latency",
            29,
            "cycles",
            "the fastest s_load of the traces, a hit: 27 to 29 cycles of b64, 30 of b128",
        ),
        _assumed(
            "L2 latency", 300, "cycles", "the fastest cold loads of the traces take 350 cycles"
        ),
        _assumed("infinity cache latency", 450, "cycles", _RDNA3),
        _assumed("DRAM latency", 800, "cycles", "no source: an unloaded DRAM"),
        _assumed("vector cache bytes a cycle", 128, "bytes", "a line a cycle"),
        _assumed("scalar cache bytes a cycle", 64, "bytes", "no source"),
    )
}
"""Parameters of the memory system, by name; those of the chip are in `chip.CHIPS`."""
