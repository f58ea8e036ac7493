"""The chips of which a launch's cycles are estimated: how many workgroup processors share which
caches and bandwidths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from amdjit.cycles.errors import NoEstimate
from amdjit.target import Target, find_target

__all__ = ["CHIPS", "CHIP_VALUES", "Chip", "chip_of"]


# The names that values of parameters have for a chip's fields. Bandwidths are bytes a second, the
# clock is Hz.
CHIP_VALUES: Mapping[str, str] = MappingProxyType(
    {
        "clock": "clock",
        "L2 bytes": "l2_bytes",
        "infinity cache bytes": "infinity_bytes",
        "L2 bandwidth": "l2_bandwidth",
        "infinity cache bandwidth": "infinity_bandwidth",
        "DRAM bandwidth": "dram_bandwidth",
    }
)


@dataclass(frozen=True, slots=True)
class Chip:
    """A graphics processor as a whole."""

    target: str
    """LLVM's name."""
    product: str
    clock: float
    """The boost clock, in Hz."""
    l2_bytes: int
    """The size of the L2."""
    infinity_bytes: int
    """The size of the Infinity Cache."""
    l2_bandwidth: float
    """Bytes a second of the L2."""
    infinity_bandwidth: float
    """Bytes a second of the Infinity Cache."""
    dram_bandwidth: float
    """Bytes a second of DRAM."""
    dies: int = 1
    """The number of dies. Each has an L2 of `l2_bytes`; all share the Infinity Cache and memory."""

    @property
    def workgroup_processors(self) -> int:
        """Those of the largest product; of CDNA, its compute units."""
        found = find_target(self.target)
        assert found is not None
        return found.multiprocessors

    def with_values(self, values: Mapping[str, float]) -> Chip:
        """Return the chip with what `values` says of it, by the names of `CHIP_VALUES`."""
        changes = {
            field: type(getattr(self, field))(values[name])
            for name, field in CHIP_VALUES.items()
            if name in values
        }
        return replace(self, **changes)

    def bytes_a_cycle(self, bandwidth: float, active: int) -> float:
        """Return the share of a bandwidth that each of the active workgroup processors has."""
        return bandwidth / self.clock / active


# AMD's product pages of the RX 9070 XT, the RX 9060 XT, the RX 7900 XTX and the Ryzen AI Max+ 395
# (Radeon 8060S): boost clock, L2, Infinity Cache.
# Bandwidths: AMD's model Origami (rocm-libraries, shared/origami), which gives them at its own
# reference clock; they are taken as they stand. MI300X: bandwidths that MT4G measured (reads, at
# 2.1 GHz; caps-tum/mt4g, sample results); MI355X: Origami's. AMD's data sheets: clocks and sizes;
# their L2 has 4 MiB for each of eight dies.
CHIPS = (
    Chip(
        "gfx1201",
        "RX 9070 XT",
        clock=2.97e9,
        l2_bytes=8 << 20,
        infinity_bytes=64 << 20,
        l2_bandwidth=5.74e12,
        infinity_bandwidth=2.94e12,
        dram_bandwidth=0.464e12,
    ),
    Chip(
        "gfx1200",
        "RX 9060 XT",
        clock=3.13e9,
        l2_bytes=4 << 20,
        infinity_bytes=32 << 20,
        l2_bandwidth=3.28e12,
        infinity_bandwidth=1.77e12,
        dram_bandwidth=0.28e12,
    ),
    Chip(
        "gfx1100",
        "RX 7900 XTX",
        clock=2.5e9,
        l2_bytes=6 << 20,
        infinity_bytes=96 << 20,
        l2_bandwidth=7.12e12,
        infinity_bandwidth=4.24e12,
        dram_bandwidth=0.73e12,
    ),
    Chip(
        "gfx1151",
        "Radeon 8060S",
        clock=2.9e9,
        l2_bytes=2 << 20,
        infinity_bytes=32 << 20,
        l2_bandwidth=2.47e12,
        infinity_bandwidth=1.13e12,
        dram_bandwidth=0.215e12,
    ),
    Chip(
        "gfx942",
        "MI300X",
        clock=2.1e9,
        l2_bytes=4 << 20,
        infinity_bytes=256 << 20,
        l2_bandwidth=14.4e12,
        infinity_bandwidth=5.4e12,
        dram_bandwidth=3.7e12,
        dies=8,
    ),
    Chip(
        "gfx950",
        "MI355X",
        clock=2.4e9,
        l2_bytes=4 << 20,
        infinity_bytes=256 << 20,
        l2_bandwidth=17e12,
        infinity_bandwidth=8.5e12,
        dram_bandwidth=6e12,
        dies=8,
    ),
)


def chip_of(target: Target) -> Chip:
    """Return the chip of a processor; NoEstimate if the model does not know its workgroup
    processor."""
    found = next((chip for chip in CHIPS if chip.target == target.name), None)
    if found is None:
        known = ", ".join(chip.target for chip in CHIPS)
        raise NoEstimate(
            f"the cycle model is of {known} only; it does not know how {target} issues instructions"
        )
    return found
