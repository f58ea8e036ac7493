"""`Inspection`: the exact facts of one kernel, read from a code object's bytes."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.inspection.json_form import json_text
from amdjit.inspection.kernel_facts import Companion, KernelFacts
from amdjit.inspection.notebook import kernel_html
from amdjit.inspection.summary import summary

__all__ = ["SCHEMA", "Companion", "Inspection"]

# The name of the JSON form, with its version: what a reader relies on stays under one name.
SCHEMA = "amdjit.inspection/1"
_NOT_IN_JSON = frozenset({"companion"})


@dataclass(frozen=True)
class Inspection(KernelFacts):
    """The facts of one kernel of a code object; printing shows a summary."""

    def __str__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return kernel_html(self)

    def to_json(self) -> str:
        """Return the facts as JSON: an object with the fields of `KernelFacts` by name, and
        "schema".

        Records are objects with their fields by name, sets of registers sorted arrays; `lines` is
        an array. Sources and IR are not there: they are no facts of the code object.
        """
        return json_text(SCHEMA, self, without=_NOT_IN_JSON)
