"""The kinds of rows that the synchronisation check leaves in the reports."""

from __future__ import annotations

from enum import IntEnum

from amdjit.emulator.layout import (
    SYNC_DIFFERENT,
    SYNC_KINDS,
    SYNC_OVERRUN,
    SYNC_TWICE,
    SYNC_UNREACHED,
)


class SyncKind(IntEnum):
    """What is wrong. UNREACHED and DIFFERENT, which the driver finds, have a resume id in place of
    a site."""

    DIVERGENT = SYNC_KINDS
    UNREACHED = SYNC_UNREACHED
    DIFFERENT = SYNC_DIFFERENT
    MATRIX = SYNC_KINDS + 3
    TRANSPOSE = SYNC_KINDS + 4
    WAIT = SYNC_KINDS + 5
    TWICE = SYNC_TWICE
    OVERRUN = SYNC_OVERRUN
