"""The native functions of the quick tier: the wave functions that run threaded programs."""

from __future__ import annotations

from functools import partial

from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.tiers.quick_native import interpreter_symbol, threaded_text

NATIVES = NativeSources(
    {interpreter_symbol(wave_size): partial(threaded_text, wave_size) for wave_size in (32, 64)}
)
