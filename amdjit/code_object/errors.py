"""What reading a code object raises."""

from __future__ import annotations

from amdjit.diagnostics.errors import AmdjitError

__all__ = ["MalformedCodeObject"]


class MalformedCodeObject(AmdjitError):
    """The bytes are not a code object that amdjit can read; the message says what is wrong with
    them."""
