"""The native functions that code checked for races calls."""

from __future__ import annotations

from functools import partial

from amdjit.emulator.checks.race.accesses import process_symbol, process_text
from amdjit.emulator.checks.race.barriers import (
    arrive_text,
    split_barrier_text,
    split_text,
    waited_text,
    waits_text,
)
from amdjit.emulator.checks.race.lanes import conflicts_across_text, conflicts_text
from amdjit.emulator.checks.race.order import ordered_text
from amdjit.emulator.checks.race.rivals import (
    dword_text,
    find_text,
    global_symbol,
    global_text,
    lds_symbol,
    lds_text,
)
from amdjit.emulator.checks.race.scalar_loads import scalar_text
from amdjit.emulator.checks.race.tags import dword_symbol
from amdjit.emulator.checks.race.time import (
    epoch_text,
    fence_text,
    lane_order_text,
    sync_text,
    wave_text,
)
from amdjit.emulator.checks.race.under_way import (
    issue_text,
    keep_text,
    landed_text,
    repeat_text,
    what_of,
)
from amdjit.emulator.host.native_sources import NativeSources
from amdjit.emulator.wave.instrument import AccessKind

_WAYS = [(kind, by_lane) for kind in AccessKind for by_lane in (False, True)]
_NOTING = {
    what_of(kind, lds): (lds_symbol if lds else global_symbol)(kind)
    for kind in (AccessKind.LOAD, AccessKind.STORE)
    for lds in (False, True)
}
NATIVES = NativeSources(
    {
        "aj_race_wave": wave_text,
        "aj_race_epoch": epoch_text,
        "aj_race_fence": fence_text,
        "aj_race_ordered": ordered_text,
        "aj_race_arrive": arrive_text,
        "aj_race_waits": waits_text,
        "aj_race_waited": waited_text,
        "aj_race_split": split_text,
        "aj_race_split_barrier": split_barrier_text,
        "aj_race_sync": sync_text,
        "aj_race_lane_order": lane_order_text,
        **{dword_symbol(by_lane): partial(dword_text, by_lane) for by_lane in (False, True)},
        "aj_race_issue": issue_text,
        "aj_race_landed": landed_text,
        "aj_race_keep": keep_text,
        "aj_race_repeat": partial(repeat_text, _NOTING),
        "aj_race_find": find_text,
        "aj_race_scalar": scalar_text,
        "aj_lane_conflicts": conflicts_text,
        "aj_lane_conflicts_across": conflicts_across_text,
        **{process_symbol(*way): partial(process_text, *way) for way in _WAYS},
        **{global_symbol(*way): partial(global_text, *way) for way in _WAYS},
        **{lds_symbol(*way): partial(lds_text, *way) for way in _WAYS},
    }
)
