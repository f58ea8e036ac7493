"""Turn checks on: `with amdjit.sanitize("memory", "race") as found:`.

The emulator makes the checks. All enclosing `sanitize` blocks collect what they find;
`settings.py` combines what the blocks, the kernel and the environment ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from amdjit.checking.open_blocks import OpenBlock
from amdjit.options import LANES_CHECK, SANITIZER_CHECKS, OptionError, checked_sanitize

if TYPE_CHECKING:
    from amdjit.diagnostics.sanitizer import SanitizerReport

__all__ = ["ACTIVE", "is_on", "sanitize"]


# The enclosing blocks, innermost last.
ACTIVE: ContextVar[tuple[sanitize, ...]] = ContextVar("amdjit sanitizer", default=())


class sanitize(OpenBlock):  # noqa: N801
    """Check the launches of a `with` block: memory, race, init, sync; all of them if none is named.

    lanes: also find races between the lanes of a wave, as the name "lanes" does. limit: the most
    reports of one launch (20). raises: whether a launch with errors raises `amdjit.SanitizerError`
    at its end and warnings are given as `amdjit.SanitizerWarning`; False only collects. json: a
    file to which each report is appended, one object per line. `reports` holds what was found so
    far, and after the block also memory that was not freed. Blocks nest: their checks add up, and
    the innermost block that sets another option decides it. OptionError for an unknown check. A
    launch on a device other than the emulator raises LaunchError.
    """

    enclosing = ACTIVE

    def __init__(
        self,
        *checks: str,
        lanes: bool = False,
        limit: int | None = None,
        raises: bool | None = None,
        json: str | Path | None = None,
    ) -> None:
        super().__init__()
        names = checks or SANITIZER_CHECKS
        own = checked_sanitize((*names, LANES_CHECK) if lanes else names, "sanitize")
        if limit is not None and (type(limit) is not int or limit < 1):
            raise OptionError(f"sanitize: limit={limit!r}: give 1 or more reports")
        self.own_checks = frozenset(own)
        self.limit = limit
        self.raises = raises
        self.json = None if json is None else Path(json)
        self.reports: list[SanitizerReport] = []
        self.at_exit: list[Callable[[], None]] = []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        while self.at_exit and not self._tokens:
            self.at_exit.pop(0)()

    def __repr__(self) -> str:
        return (
            f"<amdjit.sanitize({', '.join(sorted(self.own_checks))}), {len(self.reports)} reports>"
        )


def is_on(check: str) -> bool:
    """Whether an enclosing `sanitize` block makes a check."""
    return any(check in block.own_checks for block in ACTIVE.get())
