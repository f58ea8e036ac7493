"""Assertions for the test suites of people who write kernels.

`isa` is about machine code: how many instructions of a kind a loop has, how wide its accesses are,
registers, spills, occupancy. docs/testing.md has examples.

`assertions` has the assertions, the objects that they take, and the parts of a kernel that they can
be about.
"""

from __future__ import annotations

from amdjit.testing.assertions import Code, isa

__all__ = ["Code", "isa"]
