"""From the rows of the race check to reports."""

from __future__ import annotations

from amdjit.diagnostics.sanitizer import Origin, SanitizerReport
from amdjit.emulator.checks.findings import Finding, LaunchFacts, Row, report_of
from amdjit.emulator.checks.race.conflicting_accesses import (
    CONFLICT,
    LACKING,
    NOW_IN_FLIGHT,
    OLDER_IN_FLIGHT,
    UNLESS_ATOMIC,
)
from amdjit.emulator.layout import RACE_KINDS, Report
from amdjit.emulator.wave.frame import AccessKind

_WORDS = {AccessKind.LOAD: "load", AccessKind.STORE: "store", AccessKind.ATOMIC: "atomic operation"}
_IN_LDS = (CONFLICT + 1, OLDER_IN_FLIGHT + 1, NOW_IN_FLIGHT + 1)
_STORES = AccessKind.STORE * 3 + AccessKind.STORE
_WITHIN_GROUP = "put `syncthreads()` between them; all work-items of the workgroup must reach it"
_BETWEEN_GROUPS = (
    "workgroups run in any order: use atomics for what they share, `threadfence()` before the "
    "atomic that says it is done and after the one that sees it, or a second launch"
)


def is_forgiven(row: Row) -> bool:
    """Whether a row is no race if its address is used atomically, by then or later."""
    return row[Report.KIND] - RACE_KINDS == UNLESS_ATOMIC


def race_report(row: Row, facts: LaunchFacts) -> SanitizerReport:
    """Return the report of a race, or of lanes that contradict each other."""
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
    thread = facts.thread(row[Report.OTHER_WAVE], row[Report.OTHER_LANE])
    origin = Origin(other, *facts.line(row[Report.OTHER_SITE]), block, thread)
    severity = "warning" if kind == "lanes" else "error"
    finding = Finding(kind, message, remedy, origin, place=place, severity=severity)
    return report_of(
        "race", finding, row=row, facts=facts, address=row.address, nbytes=row[Report.SIZE]
    )


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
            "let one lane store (`if threadIdx.x == 0:`), combine the values first, or use an "
            "atomic operation",
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
        "put `wave_barrier()` between them (`syncwarp()` in Numba's dialect), or `syncthreads()`: "
        "without it, the compiler may move one past the other",
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
