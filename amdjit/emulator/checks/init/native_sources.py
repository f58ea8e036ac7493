"""The native functions that code checked for undefined values calls."""

from __future__ import annotations

from amdjit.emulator.checks.init.memory_shadow import shadow_sources
from amdjit.emulator.host.native_sources import NativeSources

NATIVES = NativeSources(shadow_sources())
