"""The errors of tuning."""

from __future__ import annotations

from amdjit.diagnostics import AmdjitError

__all__ = ["TuningError", "WorkerLost"]


class TuningError(AmdjitError):
    """A kernel cannot be tuned as asked, or no candidate is left; the text says what to change."""


class WorkerLost(AmdjitError):
    """The worker of a candidate died, took too long, or ran out of memory. The text says which."""
