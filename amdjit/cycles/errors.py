"""What the cycle model cannot estimate."""

from __future__ import annotations

from amdjit.diagnostics.errors import AmdjitError

__all__ = ["NoEstimate"]


class NoEstimate(AmdjitError):
    """There is no estimate of cycles; the message says why."""
