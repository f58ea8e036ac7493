"""What can go wrong while a kernel is written."""

from __future__ import annotations

from amdjit.diagnostics.errors import AmdjitError

__all__ = ["EncodingError"]


class EncodingError(AmdjitError):
    """The processor has no such instruction, operand or modifier; the text says which."""
