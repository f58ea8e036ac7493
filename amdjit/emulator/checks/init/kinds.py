"""The kinds of rows that the check for undefined values leaves in the reports."""

from __future__ import annotations

from enum import IntEnum

from amdjit.emulator.layout import INIT_KINDS


class InitKind(IntEnum):
    """LOADED: an undefined value came from memory here, which alone is not a mistake. All others
    are."""

    LOADED = INIT_KINDS
    ADDRESS = INIT_KINDS + 1
    BRANCH = INIT_KINDS + 2
    STORE = INIT_KINDS + 3
    ATOMIC = INIT_KINDS + 4
