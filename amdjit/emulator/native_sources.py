"""The native functions that launches without checks call, from every room that has some.

The checks' own are not here, so that a plain launch does not import them: the first checked launch
adds them to the library (`checks/session.py`).
"""

from __future__ import annotations

from functools import partial

from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.instructions import native_sources as instructions
from amdjit.emulator.scheduling.barriers import BARRIERS
from amdjit.emulator.scheduling.driver import driver_symbol, driver_text
from amdjit.emulator.scheduling.fault_record import (
    FAULT,
    REFUSE_MODE,
    REQUIRE_LANES,
    STOPPED,
    TICK,
    fault_text,
    refuse_mode_text,
    require_lanes_text,
    stopped_text,
    tick_text,
)
from amdjit.emulator.scheduling.host_calls import HOST_CALL, host_call_text
from amdjit.emulator.scheduling.report_rows import (
    REPORT,
    SYNC_REPORT,
    report_text,
    sync_report_text,
)
from amdjit.emulator.scheduling.resolution import RESOLVE, resolve_text
from amdjit.emulator.tiers.quick_native import (
    WHERE,
    interpreter_symbol,
    threaded_text,
    where_text,
)
from amdjit.emulator.wave.wave_state import MOVE_REGISTERS, move_registers_text

# The native functions of the quick tier: the wave functions that run threaded programs.

TIERS = NativeSources(
    {
        WHERE.name: where_text,
        MOVE_REGISTERS.name: move_registers_text,
        **{interpreter_symbol(size): partial(threaded_text, size) for size in (32, 64)},
    }
)


# The native functions that run workgroups and record what went wrong.

SCHEDULING = NativeSources(
    {
        FAULT.name: fault_text,
        REPORT.name: report_text,
        SYNC_REPORT.name: sync_report_text,
        STOPPED.name: stopped_text,
        TICK.name: tick_text,
        REFUSE_MODE.name: refuse_mode_text,
        REQUIRE_LANES.name: require_lanes_text,
        RESOLVE.name: resolve_text,
        HOST_CALL.name: host_call_text,
        **BARRIERS,
        **{driver_symbol(wave_size): partial(driver_text, wave_size) for wave_size in (32, 64)},
    }
)


ROOMS: tuple[NativeSources, ...] = (instructions.NATIVES, SCHEDULING, TIERS)
