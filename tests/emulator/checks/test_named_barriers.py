"""Named barriers in the checks: they order what their members do, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.emulator import run
from tests.emulator.building import compile_source, device
from tests.emulator.checks.checked_device import CheckedDevice
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

HEAD = """
#include "common.h"
typedef __attribute__((address_space(3))) void *Barrier;
#define NAMED(n) ((void *)(Barrier)((n) << 4))
#define WAVE (LANE / 32)
#define RELEASE __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup")
#define ACQUIRE __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define INIT(n, members) if (WAVE == 0) __builtin_amdgcn_s_barrier_init(NAMED(n), members)
#define JOIN(n) __builtin_amdgcn_s_barrier_join(NAMED(n))
#define SIGNAL(n) __builtin_amdgcn_s_barrier_signal(n)
#define WAIT __builtin_amdgcn_s_barrier_wait(1)
SHARED u32 box[64];
"""


def reports(kernel: str, *checks: str, waves: int = 3) -> list[tuple[str, int | None, int | None]]:
    """Run, and return of each report its kind and its lines, counted from the kernel's first."""
    code = compile_source(f"{HEAD}KERNEL checked(GLOBAL u32 *x) {{\n{kernel}\n}}\n", "-O1")
    checked: Any = CheckedDevice(device(), *checks)
    run(code, "checked", 1, 32 * waves, [np.zeros(256, np.uint32)], device=checked)
    first = HEAD.count("\n") + 1
    found = []
    for report in checked.reports:
        other = report.other.line - first if report.other and report.other.line else None
        found.append((report.kind, report.line - first, other))
    return found


# Wave 0 fills the box, wave 1 reads it, again and again; each round both signal twice.
HAND_OVER = """INIT(1, 2); barrier();
if (WAVE == 2) return;
JOIN(1);
for (u32 i = 0; i < 3; ++i) {
if (WAVE == 0) box[LANE] = i;
RELEASE; SIGNAL(1); WAIT; ACQUIRE;
if (WAVE == 1) x[LANE - 32] = box[LANE - 32];
RELEASE; SIGNAL(1); WAIT; ACQUIRE;
}"""


def test_a_named_barrier_orders_what_its_members_do() -> None:
    assert reports(HAND_OVER, "race", "sync", "memory") == []


def test_a_wave_that_is_no_member_is_not_ordered() -> None:
    stranger = "if (WAVE == 2) { x[200 + LANE % 32] = box[LANE % 32]; return; }"
    found = reports(HAND_OVER.replace("if (WAVE == 2) return;", stranger), "race")
    assert {frozenset(places) for _, *places in found} == {frozenset((2, 5))}, found


def test_members_need_the_second_signal_of_a_round() -> None:
    lines = HAND_OVER.splitlines()
    found = reports("\n".join([*lines[:7], "", lines[8]]), "race")
    assert [places for _, *places in found] in ([[5, 7]], [[7, 5]]), found


def test_what_a_wave_does_behind_its_signal_is_not_ordered() -> None:
    found = reports(
        """INIT(1, 2); barrier();
if (WAVE == 2) return;
JOIN(1);
RELEASE; SIGNAL(1);
if (WAVE == 0) box[LANE] = 1;
WAIT; ACQUIRE;
if (WAVE == 1) x[LANE] = box[LANE - 32];
""",
        "race",
    )
    assert [places for _, *places in found] == [[7, 5]], found


def test_order_passes_on_through_two_barriers() -> None:
    kernel = """INIT(1, 2); INIT(2, 2); barrier();
if (WAVE == 0) box[LANE] = 1;
if (WAVE < 2) { JOIN(1); RELEASE; SIGNAL(1); WAIT; ACQUIRE; }
if (WAVE > 0) { JOIN(2); RELEASE; SIGNAL(2); WAIT; ACQUIRE; }
if (WAVE == 2) x[LANE] = box[LANE - 64];
"""
    assert reports(kernel, "race") == []
    found = reports(
        kernel.replace("SIGNAL(2); WAIT", "SIGNAL(2)").replace("INIT(2, 2)", "INIT(2, 3)"), "race"
    )
    assert [places for _, *places in found] == [[5, 2]], found


def test_producers_signal_without_waiting() -> None:
    """A barrier that only consumers join: LLVM's document allows to signal what was not joined."""
    kernel = """INIT(1, 1); INIT(2, 1); if (WAVE == 0) JOIN(2); else JOIN(1); barrier();
for (u32 i = 0; i < 3; ++i) {
if (WAVE == 0) { box[LANE] = i; RELEASE; SIGNAL(1); WAIT; ACQUIRE; }
if (WAVE == 1) { WAIT; ACQUIRE; x[LANE] = box[LANE - 32]; RELEASE; SIGNAL(2); }
}"""
    assert reports(kernel, "race", "sync") == []


def test_a_barrier_that_completes_twice_before_a_wave_waits() -> None:
    kernel = """INIT(1, 1); if (WAVE == 1) JOIN(1); barrier();
if (WAVE == 0) SIGNAL(1);
x[LANE] = LANE;
if (WAVE == 0) SIGNAL(1);
if (WAVE == 1) { WAIT; if (x[LANE] == 99) return; }
"""
    assert reports(kernel, "sync") == [("barrier-overrun", 4, None)]


# Between the signal of a split barrier and its wait, a wave's accesses are ordered with nobody's.
SPLIT = """if (LANE != 63) box[LANE] = 1;
RELEASE; SIGNAL(-1);
x[LANE] += 1;
if (WAVE == 0) box[63] = 2;
__builtin_amdgcn_s_barrier_wait(-1); ACQUIRE;
if (WAVE == 1) x[LANE] += box[LANE ^ SEEN];
barrier();
if (WAVE == 0) box[LANE] = 3;
"""


def test_a_split_barrier_orders_what_is_before_its_signal() -> None:
    assert reports(SPLIT.replace("SEEN", "32"), "race", waves=2) == []


def test_a_split_barrier_does_not_order_what_is_behind_its_signal() -> None:
    found = reports(SPLIT.replace("SEEN", "0"), "race", waves=2)
    assert {frozenset(places) for _, *places in found} >= {frozenset((6, 4))}, found
