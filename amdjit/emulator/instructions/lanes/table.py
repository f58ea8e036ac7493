"""The emitters of instructions that move data between lanes; DPP is a modifier of others
(dpp.py)."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.lanes.permute import HALF_WAVE_PERMUTE, PERMUTE
from amdjit.emulator.instructions.lanes.row_swaps import ROW_SWAPS
from amdjit.emulator.instructions.lanes.single_lanes import SINGLE_LANES
from amdjit.emulator.instructions.operation import Emitter

CROSS_LANE: Mapping[str, Emitter] = {
    **SINGLE_LANES,
    **PERMUTE,
    **ROW_SWAPS,
}
HALF_WAVE_LANES: Mapping[str, Emitter] = HALF_WAVE_PERMUTE
