"""An inspection that is made by hand: a loop that loads, waits and adds, with known figures."""

from __future__ import annotations

from amdjit.inspection.facts import (
    AccessFacts,
    BlockFacts,
    Companion,
    InstructionFacts,
    LineFacts,
    LiveOrigin,
    LiveValue,
    LoopFacts,
    Occupancy,
    OccupancyStep,
    Peak,
)
from amdjit.inspection.inspection import Inspection

FILE = "sums.py"
SOURCE = "def sums(x):\n    for i in range(8):\n        total += x[i]\n    x[0] = total\n"


def instruction(
    address: int, text: str, unit: str, live: int, line: int | None, **more: object
) -> InstructionFacts:
    """Return an instruction of the loop, if `block` says no other."""
    facts = {
        "size": 4,
        "mnemonic": text.split()[0],
        "issue_cycles": 1,
        "inlined_from": (),
        "block": 1,
        "loop_depth": 1,
        "live_sgprs": frozenset({0, 1}),
        **more,
    }
    return InstructionFacts(
        address=address,
        text=text,
        unit=unit,
        file=FILE if line else None,
        line=line,
        live_vgprs=frozenset(range(live)),
        **facts,  # type: ignore[arg-type]
    )


INSTRUCTIONS = (
    instruction(0x100, "v_mov_b32_e32 v1, 0", "VALU", 10, None, block=0, loop_depth=0),
    instruction(0x104, "global_load_b32 v2, v0, s[0:1]", "vector memory", 100, 3),
    instruction(0x110, "s_wait_loadcnt 0x0", "wait", 120, 3, waits_for=(0x104,)),
    instruction(0x114, "v_add_f32_e32 v1, v1, v2", "VALU", 120, 3),
    instruction(0x118, "s_cbranch_scc1 65529", "branch", 60, 2, waits_for=(0x118,)),
    instruction(0x11C, "s_wait_dscnt 0x0", "wait", 2, 4, block=2, loop_depth=0),
    instruction(0x120, "ds_store_b32 v0, v1", "LDS", 2, 4, block=2, loop_depth=0),
    instruction(0x128, "s_endpgm", "branch", 0, 4, block=2, loop_depth=0),
)

INSPECTION = Inspection(
    kernel="sums",
    target="gfx1201",
    wave_size=32,
    wgp_mode=True,
    producer="",
    vgprs=120,
    sgprs=8,
    vgpr_spills=0,
    sgpr_spills=0,
    lds_bytes=1024,
    scratch_bytes=0,
    code_bytes=44,
    workgroup_size=256,
    instructions=INSTRUCTIONS,
    blocks=(
        BlockFacts(0, 0x100, 0x104, None, (1,), (), {"VALU": 1}, 10, 2),
        BlockFacts(1, 0x104, 0x11C, 0, (1, 2), (0, 1), {"VALU": 1}, 120, 2),
        BlockFacts(2, 0x11C, 0x12C, None, (), (1,), {"LDS": 1}, 2, 2),
    ),
    loops=(LoopFacts(0, 1, (1,), None, 1),),
    lines={
        (FILE, 2): LineFacts(FILE, 2, (0x118,), {"branch": 1}, 60, 2),
        (FILE, 3): LineFacts(
            FILE, 3, (0x104, 0x110, 0x114), {"VALU": 1, "vector memory": 1, "wait": 1}, 120, 2
        ),
        (FILE, 4): LineFacts(FILE, 4, (0x11C, 0x120), {"LDS": 1, "wait": 1, "branch": 1}, 2, 2),
    },
    peak=Peak(
        0x110,
        120,
        2,
        (LiveValue("total", "f32", "v1"),),
        (
            LiveOrigin(FILE, 3, frozenset(range(110))),
            LiveOrigin(None, None, frozenset(range(110, 120))),
        ),
    ),
    occupancy=Occupancy(
        12,
        "vgprs",
        {"vgprs": 12, "lds": 16},
        (OccupancyStep(16, 96, None, "24 VGPRs fewer: 12 -> 16 waves"),),
    ),
    accesses=(
        AccessFacts(0x104, "global", "load", 4, False, 4, "", None, FILE, 3),
        AccessFacts(0x120, "LDS", "store", 4, False, 128, "", 31, FILE, 4),
        AccessFacts(0x124, "global", "load", 8, None, None, "th:TH_LOAD_NT", None),
    ),
    missing=("the compiler: no debug information names it",),
    companion=Companion({FILE: SOURCE}),
)
