"""The peak rates of the chips: operations and bytes per second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.cycles.chip import CHIPS, Chip

__all__ = ["PEAKS", "Peaks"]


@dataclass(frozen=True, slots=True)
class Peaks:
    """The limits of the largest product with a processor."""

    product: str
    workgroup_processors: int
    """The number of workgroup processors, of two compute units each."""
    operations: Mapping[str, float]
    """Operations per second at the boost clock, by type as `operations_of` names it."""
    bandwidth: float
    """Bytes per second of the memory."""
    source: str
    """The source of these numbers."""


# Operations of a compute unit in a cycle. Matrix (AMD, RDNA 4 architecture): 1,024 in f16 and bf16,
# twice as many in 8 bits, four times as many in 4 bits. f32: 2 SIMDs of 32 lanes with 2 operations
# and dual issue; f16 in pairs has twice that. f64: an instruction takes 32 cycles (measured on
# gfx1201).
_OF_A_COMPUTE_UNIT = {
    "f16 matrix": 1024,
    "bf16 matrix": 1024,
    "fp8 matrix": 2048,
    "i8 matrix": 2048,
    "i4 matrix": 4096,
    "f32": 256,
    "f16": 512,
    "f64": 4,
}


# Bytes a second, from AMD's product pages.
_BANDWIDTHS = {"gfx1201": 640e9, "gfx1200": 320e9}


def _peaks(chip: Chip) -> Peaks:
    units, bandwidth = 2 * chip.workgroup_processors, _BANDWIDTHS[chip.target]
    operations = {kind: count * units * chip.clock for kind, count in _OF_A_COMPUTE_UNIT.items()}
    source = (
        f"AMD's product page of the {chip.product}: {units} compute units, "
        f"{chip.clock / 1e9:g} GHz boost clock, {bandwidth / 1e9:g} GB/s"
    )
    return Peaks(chip.product, chip.workgroup_processors, operations, bandwidth, source)


# The peaks by LLVM's name of the processor.
PEAKS: Mapping[str, Peaks] = {chip.target: _peaks(chip) for chip in CHIPS}
