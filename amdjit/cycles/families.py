"""The families of processors that the cycle model knows: RDNA 4's parameters, and what differs from
them in others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.cycles.cdna import CDNA_MEMORY, CDNA_PARAMETERS
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.memory_parameters import MEMORY_PARAMETERS
from amdjit.cycles.parameters import (
    CDNA_PASSES,
    PARAMETERS,
    PASSES,
    RDNA3_PASSES,
    Parameter,
    passes_name,
)
from amdjit.cycles.rdna3 import RDNA3, RDNA35
from amdjit.isa.traits import Timing
from amdjit.target import Target

__all__ = ["FAMILIES", "VALUES", "Family", "family_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Processors with the same parameters. own, own_passes: those that differ from RDNA 4's."""

    name: str
    own: Mapping[str, Parameter]
    own_passes: Mapping[Timing, int]

    @property
    def values(self) -> Mapping[str, float]:
        """The values of all parameters, by name; `chip.CHIP_VALUES` has the names of the chip's,
        which values may have, too."""
        rows = {**PARAMETERS, **MEMORY_PARAMETERS, **self.own}
        passes = {**PASSES, **self.own_passes}
        return {
            **{name: row.value for name, row in rows.items()},
            **{passes_name(timing): cycles for timing, cycles in passes.items()},
        }


_RDNA4 = Family("RDNA 4", {}, {})
_RDNA3 = Family("RDNA 3", RDNA3, RDNA3_PASSES)
_RDNA35 = Family("RDNA 3.5", RDNA35, RDNA3_PASSES)
_CDNA = Family("CDNA 3 and 4", {**CDNA_PARAMETERS, **CDNA_MEMORY}, CDNA_PASSES)

# By the first two numbers of the processor's version.
FAMILIES: Mapping[tuple[int, int], Family] = {
    (12, 0): _RDNA4,
    (11, 0): _RDNA3,
    (11, 5): _RDNA35,
    (9, 4): _CDNA,
    (9, 5): _CDNA,
}

VALUES = _RDNA4.values
"""The values of RDNA 4."""


def family_of(target: Target) -> Family:
    """Return the family of a processor; NoEstimate if the model does not know it."""
    found = FAMILIES.get(target.isa[:2])
    if found is None:
        known = ", ".join(dict.fromkeys(family.name for family in FAMILIES.values()))
        raise NoEstimate(
            f"the cycle model knows {known}; it does not know how {target} issues instructions"
        )
    return found
