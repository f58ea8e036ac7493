"""Which checks are on: `with amdjit.sanitize("memory", "race") as found:`. `check_settings.py` puts
them together.

The emulator makes the checks. What they found is collected by all enclosing `sanitize` blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from amdjit.options import SANITIZER_CHECKS, OptionError, checked_sanitize

if TYPE_CHECKING:
    from amdjit.diagnostics.sanitizer import SanitizerReport

__all__ = ["ACTIVE", "is_on", "sanitize"]


class sanitize:  # noqa: N801
    """Check the launches of a `with` block: memory, race, init, sync; all of them if none is named.

    limit: the most reports of one launch (20). raises: raise `amdjit.SanitizerError` at the end of
    a launch that has errors (warnings are given as `amdjit.SanitizerWarning`); False only collects.
    json: a file that each report is appended to, one object a line. `reports` holds what was found
    so far, at the end of the block also what memory of devices it leaves behind. Blocks nest: their
    checks add up, the innermost that says something of the rest counts. OptionError for a name that
    is no check. On devices other than the emulator a launch inside is refused with LaunchError.
    """

    def __init__(
        self,
        *checks: str,
        limit: int | None = None,
        raises: bool | None = None,
        json: str | Path | None = None,
    ) -> None:
        own = checked_sanitize(checks or SANITIZER_CHECKS, "sanitize")
        if limit is not None and (type(limit) is not int or limit < 1):
            raise OptionError(f"sanitize: limit={limit!r}: give 1 or more reports")
        self.own_checks = frozenset(own)
        self.limit = limit
        self.raises = raises
        self.json = None if json is None else Path(json)
        self.reports: list[SanitizerReport] = []
        self.at_exit: list[Callable[[], None]] = []
        self._tokens: list[Token[tuple[sanitize, ...]]] = []

    def __enter__(self) -> sanitize:
        self._tokens.append(ACTIVE.set((*ACTIVE.get(), self)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ACTIVE.reset(self._tokens.pop())
        while self.at_exit and not self._tokens:
            self.at_exit.pop(0)()

    def __repr__(self) -> str:
        return (
            f"<amdjit.sanitize({', '.join(sorted(self.own_checks))}), {len(self.reports)} reports>"
        )


# The enclosing blocks, innermost last.
ACTIVE: ContextVar[tuple[sanitize, ...]] = ContextVar("amdjit sanitizer", default=())


def is_on(check: str) -> bool:
    """Whether an enclosing `sanitize` block makes a check."""
    return any(check in block.own_checks for block in ACTIVE.get())
