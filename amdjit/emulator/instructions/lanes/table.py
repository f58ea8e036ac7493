"""The emitters of instructions that move data between lanes; DPP is a modifier of others
(dpp.py)."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.emulator.instructions.lanes.permute import PERMUTE
from amdjit.emulator.instructions.lanes.single_lanes import SINGLE_LANES
from amdjit.emulator.instructions.operation import Emitter

CROSS_LANE: Mapping[str, Emitter] = {
    **SINGLE_LANES,
    **PERMUTE,
}

# Emitted once for both halves of a wave64; the others stay within 32 lanes.
WHOLE_WAVE = frozenset(
    {
        "v_readlane_b32",
        "v_readfirstlane_b32",
        "v_writelane_b32",
        "v_permlane64_b32",
        "ds_bpermute_b32",
        "ds_bpermute_fi_b32",
        "ds_permute_b32",
    }
)
