"""Whether launches run as plain Python: `with amdjit.simulate():`, or AMDJIT_SIMULATE=1."""

from __future__ import annotations

from contextvars import ContextVar

from amdjit.checking.open_blocks import OpenBlock

__all__ = ["SIMULATIONS", "simulate"]

# The enclosing blocks, innermost last.
SIMULATIONS: ContextVar[tuple[simulate, ...]] = ContextVar("amdjit simulations", default=())


class simulate(OpenBlock):  # noqa: N801
    """Run the kernels that a `with` block launches as plain Python, one work-item after the other.

    The kernel's Python function itself is called, so that `breakpoint()`, `print` and every
    debugger of Python work in it. Nothing is compiled. Results are those of the compiled kernel,
    but for what docs/debugging.md names. AMDJIT_SIMULATE=1 does so for all launches of a program.
    """

    enclosing = SIMULATIONS
