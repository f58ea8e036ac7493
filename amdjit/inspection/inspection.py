"""`Inspection`: the exact facts of one kernel, read from a code object's bytes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from os import PathLike
from typing import TYPE_CHECKING

from amdjit.code_object.resources import Demand
from amdjit.inspection.comparison import Comparison, compare
from amdjit.inspection.facts import Occupancy
from amdjit.inspection.json_form import json_text
from amdjit.inspection.kernel_facts import Companion, KernelFacts
from amdjit.inspection.notebook import kernel_html
from amdjit.inspection.occupancy import occupancy_of
from amdjit.inspection.summary import summary
from amdjit.late import late
from amdjit.target import find_target

if TYPE_CHECKING:
    from amdjit.explorer import page
else:
    # The page is made of inspections.
    page = late("amdjit.explorer.page")

__all__ = ["SCHEMA", "Companion", "Inspection"]

# The name of the JSON form, with its version: what a reader relies on stays under one name.
SCHEMA = "amdjit.inspection/1"
_NOT_IN_JSON = frozenset({"companion", "code_object"})


@dataclass(frozen=True)
class Inspection(KernelFacts):
    """The facts of one kernel of a code object; printing shows a summary."""

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return (
            f"<inspection of {self.kernel} for {self.target}, wave{self.wave_size}: "
            f"{len(self.instructions)} instructions, {self.vgprs} VGPRs, {self.sgprs} SGPRs>"
        )

    def occupancy_at(
        self, block: int | tuple[int, ...] | None = None, dynamic_lds: int = 0
    ) -> Occupancy:
        """Return the occupancy of launches with these workgroups.

        block: work-items of a workgroup, along one axis or along each; None for the most that the
        kernel allows. dynamic_lds: bytes that the launch adds to each workgroup's LDS. ValueError
        if the kernel allows no such workgroup.
        """
        size = prod(block) if isinstance(block, tuple) else block
        size = self.workgroup_size if size is None else size
        if not 0 < size <= self.workgroup_size or dynamic_lds < 0:
            raise ValueError(
                f"the kernel takes 1 to {self.workgroup_size} work-items a workgroup and no "
                f"negative LDS, not {size} and {dynamic_lds}"
            )
        target = find_target(self.target)
        assert target is not None
        waves, lds = -(-size // self.wave_size), self.lds_bytes + dynamic_lds
        return occupancy_of(Demand(self.vgprs, lds, waves, self.wave_size, self.wgp_mode), target)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return kernel_html(self)

    def compare(self, other: Inspection) -> Comparison:
        """Return what is different in another compilation, or in another kernel: what grew."""
        return compare(self, other)

    def to_html(self, path: str | PathLike[str], other: Inspection | None = None) -> None:
        """Write the kernel's page: one file that needs no other. other: what it is compared with
        there. OSError if the file cannot be written."""
        page.write_inspection_page(self, path, other)

    def to_json(self) -> str:
        """Return the facts as JSON: an object with the fields of `KernelFacts` by name, and
        "schema".

        Records are objects with their fields by name, sets of registers sorted arrays; `lines` is
        an array. Sources and IR are not there: they are no facts of the code object.
        """
        return json_text(SCHEMA, self, without=_NOT_IN_JSON)
