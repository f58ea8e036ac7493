"""The native functions that run workgroups and record what went wrong."""

from __future__ import annotations

from functools import partial

from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.scheduling.barriers import BARRIERS
from amdjit.emulator.scheduling.driver import driver_symbol, driver_text
from amdjit.emulator.scheduling.fault_record import (
    fault_text,
    refuse_mode_text,
    require_lanes_text,
    stopped_text,
    tick_text,
)
from amdjit.emulator.scheduling.report_rows import report_text, sync_report_text
from amdjit.emulator.scheduling.resolution import resolve_text

NATIVES = NativeSources(
    {
        "aj_fault": fault_text,
        "aj_report": report_text,
        "aj_sync_report": sync_report_text,
        "aj_stopped": stopped_text,
        "aj_tick": tick_text,
        "aj_refuse_mode": refuse_mode_text,
        "aj_require_lanes": require_lanes_text,
        "aj_resolve": resolve_text,
        **BARRIERS,
        **{driver_symbol(wave_size): partial(driver_text, wave_size) for wave_size in (32, 64)},
    }
)
