"""The families of processors that the cycle model knows: RDNA 4's parameters, and what differs from
them in others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amdjit.cycles.cdna import CDNA_VALUES
from amdjit.cycles.errors import NoEstimate
from amdjit.cycles.memory_parameters import MEMORY_PARAMETERS
from amdjit.cycles.parameters import PARAMETERS, PASSES, Parameter, passes_name
from amdjit.isa.traits import Timing
from amdjit.target import Target

__all__ = ["FAMILIES", "VALUES", "Family", "family_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Processors with the same parameters."""

    name: str
    values: Mapping[str, float]
    """The values of all parameters, by name. Values may also have the chip's, by the names of
    `chip.CHIP_VALUES`; without them the chip's own count."""


def _rdna(name: str, own: Mapping[str, Parameter], passes: Mapping[Timing, int]) -> Family:
    """Return a family of which `own` and `passes` say what differs from RDNA 4."""
    rows = {**PARAMETERS, **MEMORY_PARAMETERS, **own}
    cycles = {passes_name(timing): cycles for timing, cycles in {**PASSES, **passes}.items()}
    return Family(name, {**{name: row.value for name, row in rows.items()}, **cycles})


_RDNA4 = _rdna("RDNA 4", {}, {})
_RDNA3 = _rdna("RDNA 3", {}, {})
_RDNA35 = _rdna("RDNA 3.5", {}, {})

# By the first two numbers of the processor's version.
FAMILIES: Mapping[tuple[int, int], Family] = {
    (12, 0): _RDNA4,
    (11, 0): _RDNA3,
    (11, 5): _RDNA35,
    (9, 4): Family("CDNA 3", CDNA_VALUES),
    (9, 5): Family("CDNA 4", CDNA_VALUES),
}

VALUES = _RDNA4.values
"""The values of RDNA 4."""


def family_of(target: Target) -> Family:
    """Return the family of a processor; NoEstimate if the model does not know it."""
    found = FAMILIES.get(target.isa[:2])
    if found is None:
        known = ", ".join(family.name for family in FAMILIES.values())
        raise NoEstimate(
            f"the cycle model knows {known}; it does not know how {target} issues instructions"
        )
    return found
