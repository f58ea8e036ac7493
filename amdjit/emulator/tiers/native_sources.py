"""The native functions of the quick tier: the wave functions that run threaded programs."""

from __future__ import annotations

from functools import partial

from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.tiers.quick_native import (
    WHERE,
    interpreter_symbol,
    threaded_text,
    where_text,
)

NATIVES = NativeSources(
    {
        WHERE.name: where_text,
        **{interpreter_symbol(size): partial(threaded_text, size) for size in (32, 64)},
    }
)
