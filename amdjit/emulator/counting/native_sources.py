"""The native functions that counted code calls."""

from __future__ import annotations

from amdjit.emulator.host.native_sources import NativeSources

NATIVES = NativeSources({})
