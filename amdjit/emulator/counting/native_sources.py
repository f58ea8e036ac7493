"""The native functions that counted code calls."""

from __future__ import annotations

from amdjit.emulator.counting.lds_native import lds_sources
from amdjit.emulator.counting.lines_native import line_sources
from amdjit.emulator.counting.places_native import DISTINCT, PLACES, REPEATED, places_text
from amdjit.emulator.counting.record_native import ENTER, MORE, enter_text, more_text
from amdjit.emulator.counting.shared_places_native import distinct_text, repeated_text
from amdjit.emulator.host.native_sources import NativeSources

NATIVES = NativeSources(
    {
        ENTER.name: enter_text,
        MORE.name: more_text,
        PLACES.name: places_text,
        DISTINCT.name: distinct_text,
        REPEATED.name: repeated_text,
        **line_sources(),
        **lds_sources(),
    }
)
