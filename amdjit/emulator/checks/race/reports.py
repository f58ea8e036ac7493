"""From the rows of the race check to reports."""

from __future__ import annotations

import linecache
from collections.abc import Callable

from amdjit.diagnostics.sanitizer import Origin, SanitizerReport
from amdjit.emulator.checks.findings import Finding, LaunchFacts, Row, report_of
from amdjit.emulator.checks.race.conflicting_accesses import (
    CONFLICT,
    LACKING,
    NOW_IN_FLIGHT,
    OLDER_IN_FLIGHT,
    UNLESS_ATOMIC,
)
from amdjit.emulator.checks.race.remedies import atomic_update, is_between_iterations
from amdjit.emulator.layout import RACE_KINDS, Report
from amdjit.emulator.wave.frame import AccessKind
from amdjit.isa.analysis.control_flow import Graph

_WORDS = {AccessKind.LOAD: "load", AccessKind.STORE: "store", AccessKind.ATOMIC: "atomic operation"}
_IN_LDS = (CONFLICT + 1, OLDER_IN_FLIGHT + 1, NOW_IN_FLIGHT + 1)
_STORES = AccessKind.STORE * 3 + AccessKind.STORE
_WITHIN_GROUP = "put `syncthreads()` between them; all work-items of the workgroup must reach it"
_BETWEEN_ITERATIONS = (
    "a barrier is between them, but in a loop: the next iteration may begin while others are still "
    "in this one; put `syncthreads()` at the end of the loop's body, too"
)
_BETWEEN_GROUPS = (
    "workgroups run in any order: use atomics for what they share, `threadfence()` before the "
    "atomic that says it is done and after the one that sees it, or a second launch"
)
_AMONG_LANES = (
    "let one lane store (`if threadIdx.x == 0:`), combine the values first, or use an atomic "
    "operation"
)
_WITHIN_WAVE = (
    "put `wave_barrier()` between them (`syncwarp()` in Numba's dialect), or `syncthreads()`: "
    "without it, the compiler may move one past the other"
)
_OF_UPDATES = (_WITHIN_GROUP, _BETWEEN_GROUPS, _AMONG_LANES, _WITHIN_WAVE)


def is_forgiven(row: Row) -> bool:
    """Whether a row is no race if its address is used atomically, by then or later."""
    return row[Report.KIND] - RACE_KINDS == UNLESS_ATOMIC


def race_report(row: Row, facts: LaunchFacts, code: Callable[[], Graph]) -> SanitizerReport:
    """Return the report of a race, or of lanes that contradict each other. code: returns the
    kernel's, which few reports need."""
    number = _STORES if is_forgiven(row) else row[Report.KIND] - RACE_KINDS
    in_lds = 9 <= number < LACKING or number in _IN_LDS
    place = facts.lds_place(row.address) if in_lds else facts.place(row)
    where = place.text if place else f"LDS byte {row.address}" if in_lds else f"{row.address:#x}"
    block = facts.block(row[Report.OTHER_GROUP])
    same_block = block == row.block()
    if same_block and row[Report.OTHER_WAVE] == row[Report.WAVE] and number < LACKING:
        kind, message, other, remedy = _between_lanes(number, where)
    else:
        kind, message, other, remedy = _words(number, where, same_block)
    remedy = _seen_remedy(row, facts, code, remedy) or remedy
    thread = facts.thread(row[Report.OTHER_WAVE], row[Report.OTHER_LANE])
    origin = Origin(other, *facts.line(row[Report.OTHER_SITE]), block, thread)
    severity = "warning" if kind == "lanes" else "error"
    finding = Finding(kind, message, remedy, origin, place=place, severity=severity)
    return report_of(
        "race", finding, row=row, facts=facts, address=row.address, nbytes=row[Report.SIZE]
    )


def _seen_remedy(
    row: Row, facts: LaunchFacts, code: Callable[[], Graph], general: str
) -> str | None:
    """Return the remedy that the code shows; None if the general one, of the kind, is the best."""
    places = {facts.line(site): site for site in (row[Report.SITE], row[Report.OTHER_SITE])}
    if len(places) == 1 and general in _OF_UPDATES:
        ((file, line),) = places
        update = atomic_update(linecache.getline(file, line)) if file and line else None
        return update and (
            "this line reads an element and writes it back, and others change it meanwhile: use "
            f"`{update}`"
        )
    if len(places) == 2 and general == _WITHIN_GROUP and len({file for file, _ in places}) == 1:
        sites = facts.compiled.site_pcs
        first, second = sorted(places, key=_line)
        again = [pc for pc in sites if facts.line_of(pc) == second]
        if is_between_iterations(code(), sites[places[first]], sites[places[second]], again):
            return _BETWEEN_ITERATIONS
    return None


def _line(place: tuple[str | None, int | None]) -> int:
    return place[1] or 0


def _words(number: int, where: str, same_block: bool) -> tuple[str, str, str, str]:
    """Return the kind, the message, what the other access is, and the remedy."""
    if number >= OLDER_IN_FLIGHT:
        return _in_flight(number, where)
    if number >= CONFLICT:
        return (
            "lanes",
            f"lanes of one store write different values to {where}: which of them "
            "stays is undefined",
            "the other lane",
            _AMONG_LANES,
        )
    who = "another wave of the workgroup" if same_block else "another workgroup"
    if number == LACKING:
        return (
            "fence",
            f"access to {where} after a store by {who} for which the barrier between them does "
            "not wait",
            "the store",
            "that barrier orders only LDS: use `syncthreads()`, which also waits for stores to "
            "global memory",
        )
    mine, theirs = AccessKind(number % 9 // 3), AccessKind(number % 3)
    first, second = _WORDS[mine], _WORDS[theirs]
    if mine is theirs is AccessKind.ATOMIC:
        return (
            "scope",
            f"atomic operation on {where} races with that of {who}: its scope is too narrow for "
            "both",
            "the other atomic operation",
            'give both scope="agent" (the default), or wider',
        )
    kind = "lds" if number >= 9 else "global"
    if AccessKind.ATOMIC in (mine, theirs):
        remedy = "make both accesses atomic, or " + (
            _WITHIN_GROUP if same_block else _BETWEEN_GROUPS
        )
    else:
        remedy = _WITHIN_GROUP if same_block else _BETWEEN_GROUPS
    article = "an" if second.startswith("a") else "a"
    return (
        kind,
        f"{first} of {where} races with {article} {second} by {who}",
        f"the {second}",
        remedy,
    )


def _between_lanes(number: int, where: str) -> tuple[str, str, str, str]:
    first, second = _WORDS[AccessKind(number % 9 // 3)], _WORDS[AccessKind(number % 3)]
    article = "an" if second.startswith("a") else "a"
    return (
        "wave",
        f"{first} of {where} races with {article} {second} by another lane of the wave",
        f"the {second}",
        _WITHIN_WAVE,
    )


def _in_flight(number: int, where: str) -> tuple[str, str, str, str]:
    what = "it" if number < NOW_IN_FLIGHT else "this access"
    who, barrier = "another wave of the workgroup", "the barrier between them does not wait for it"
    message = (
        f"access to {where} while one by {who} may still be under way: {barrier}"
        if number < NOW_IN_FLIGHT
        else f"access to {where} may still be under way when {who} accesses it: {barrier}"
    )
    return (
        "wait",
        message,
        "the other access",
        f"wait for {what} before the barrier is signalled, as `syncthreads()` does",
    )
