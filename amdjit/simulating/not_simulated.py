"""The refusal of what has no meaning in plain Python here."""

from __future__ import annotations

__all__ = ["NotSimulatedError"]

_REMEDY = "run the kernel on the emulator, without simulating, where all of the language works"


class NotSimulatedError(Exception):
    """The kernel does something that is not simulated."""

    def __init__(self, what: str) -> None:
        """what: the subject of the sentence, such as "an element of complex64"."""
        super().__init__(f"{what} cannot be simulated: {_REMEDY}")
