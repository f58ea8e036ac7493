"""Assertions for the test suites of people who write kernels.

`isa` is about machine code: how many instructions of a kind a loop has, how wide its accesses are,
registers, spills, occupancy. docs/testing.md has examples. `gate` is about figures of whole kernels
and launches, by conditions that are text. docs/gate.md has examples.

`assertions` has the assertions, the objects that they take, and the parts of a kernel that they can
be about. `figures` is the table of figures, `measured` finds the kernels of values and files,
`conditions` reads the text, `gates` puts them together; `differences` compares what was measured.
"""

from __future__ import annotations

from amdjit.testing.assertions import Code, isa
from amdjit.testing.conditions import ConditionError
from amdjit.testing.figures import NotKnown
from amdjit.testing.gates import Outcome, gate

__all__ = ["Code", "ConditionError", "NotKnown", "Outcome", "gate", "isa"]
