"""The native functions that launches without checks call, from every room that has some.

The checks' own are not here, so that a plain launch does not import them: the first checked launch
adds them to the library (`checks/session.py`).
"""

from __future__ import annotations

from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.instructions import native_sources as instructions
from amdjit.emulator.scheduling import native_sources as scheduling
from amdjit.emulator.tiers import native_sources as tiers

ROOMS: tuple[NativeSources, ...] = (instructions.NATIVES, scheduling.NATIVES, tiers.NATIVES)
