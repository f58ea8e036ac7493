"""What the chips can do at most: operations and bytes a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.cycles.chip import CHIPS, Chip
from amdjit.target import find_target

__all__ = ["PEAKS", "Peaks"]


@dataclass(frozen=True, slots=True)
class Peaks:
    """The limits of the largest product with a processor.

    workgroup_processors: of two compute units each, of CDNA its compute units. operations: a
    second at the boost clock, by type as `operations_of` names it. bandwidth: bytes a second of the
    memory. source: of all these.
    """

    product: str
    workgroup_processors: int
    operations: Mapping[str, float]
    bandwidth: float
    source: str

    def leaves_empty(self, workgroups: int) -> bool:
        """Whether a launch with this many workgroups leaves some processors idle, so that it
        cannot come near the limits."""
        return workgroups < self.workgroup_processors


# Operations of a compute unit in a cycle. Matrix: AMD, RDNA 4 architecture: 1,024 of f16 and bf16,
# twice as many of 8 bits, four times of 4 bits. f32: 2 SIMDs, 32 lanes, 2 operations, dual issue;
# f16 in pairs twice that. f64: an instruction takes 32 cycles (measured on gfx1201).
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
# AMD, RDNA 3 architecture; its WMMA has no fp8.
_OF_RDNA3 = {
    **{kind: count for kind, count in _OF_A_COMPUTE_UNIT.items() if not kind.startswith("fp8")},
    **dict.fromkeys(("f16 matrix", "bf16 matrix", "i8 matrix"), 512),
    "i4 matrix": 1024,
}
# CDNA 3 and 4 (rocprofiler-compute, analysis_configs of gfx942 and gfx950; AMD's matrix instruction
# calculator). f32 in pairs.
_OF_GFX942 = {
    "f16 matrix": 2048,
    "bf16 matrix": 2048,
    "fp8 matrix": 4096,
    "i8 matrix": 4096,
    "xf32 matrix": 1024,
    "f32 matrix": 256,
    "f64 matrix": 256,
    "f32": 256,
    "f16": 256,
    "f64": 128,
}
_OF_GFX950 = {
    **{kind: 2 * count for kind, count in _OF_GFX942.items() if kind.endswith("8 matrix")},
    "f16 matrix": 4096,
    "bf16 matrix": 4096,
    "f32 matrix": 256,
    "f64 matrix": 128,
    "f32": 256,
    "f16": 256,
    "f64": 128,
}
_OPERATIONS = {
    "gfx1100": _OF_RDNA3,
    "gfx1151": _OF_RDNA3,
    "gfx942": _OF_GFX942,
    "gfx950": _OF_GFX950,
}


# Bytes a second, from AMD's product pages and data sheets.
_BANDWIDTHS = {
    "gfx1201": 640e9,
    "gfx1200": 320e9,
    "gfx1100": 960e9,
    "gfx1151": 256e9,
    "gfx942": 5.3e12,
    "gfx950": 8e12,
}


def _peaks(chip: Chip) -> Peaks:
    found, bandwidth = find_target(chip.target), _BANDWIDTHS[chip.target]
    assert found is not None
    units = (1 + found.has_workgroup_processors) * chip.workgroup_processors
    of_a_unit = _OPERATIONS.get(chip.target, _OF_A_COMPUTE_UNIT)
    operations = {kind: count * units * chip.clock for kind, count in of_a_unit.items()}
    source = (
        f"AMD's product page of the {chip.product}: {units} compute units, "
        f"{chip.clock / 1e9:g} GHz boost clock, {bandwidth / 1e9:g} GB/s"
    )
    return Peaks(chip.product, chip.workgroup_processors, operations, bandwidth, source)


# By LLVM's name of the processor.
PEAKS: Mapping[str, Peaks] = {chip.target: _peaks(chip) for chip in CHIPS}
