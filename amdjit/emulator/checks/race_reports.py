"""The race check's reports in words."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.diagnostics.sanitizer import Origin, SanitizerReport
from amdjit.emulator.checks.findings import LaunchFacts, Row
from amdjit.emulator.layout import RACE_KINDS, Report
from amdjit.emulator.native.race_report import CONFLICT, LACKING
from amdjit.emulator.translate.instrument import AccessKind

_WORDS = {AccessKind.LOAD: "load", AccessKind.STORE: "store", AccessKind.ATOMIC: "atomic operation"}
_WITHIN_GROUP = "put `syncthreads()` between them; all work-items of the workgroup must reach it"
_BETWEEN_GROUPS = (
    "workgroups run in any order: use atomics for what they share, `threadfence()` before the atomic that says it is "
    "done and behind the one that sees it, or a second launch"
)


@dataclass(frozen=True, slots=True)
class _Finding:
    kind: str
    message: str
    other: str
    help: str
    severity: str = "error"


def race_report(row: Row, facts: LaunchFacts) -> SanitizerReport:
    """Return the report of a race, or of lanes that contradict."""
    number = row[Report.KIND] - RACE_KINDS
    in_lds = 9 <= number < LACKING or number == CONFLICT + 1
    place = facts.lds_place(row.address) if in_lds else facts.place(row)
    where = place.text if place else f"LDS byte {row.address}" if in_lds else f"{row.address:#x}"
    same_block = facts.block(row[Report.OTHER_GROUP]) == row.block()
    finding = _finding(number, where, same_block)
    site = row[Report.SITE]
    file, line = facts.line(site)
    other_file, other_line = facts.line(row[Report.OTHER_SITE])
    thread = facts.thread(row[Report.OTHER_WAVE], row[Report.OTHER_LANE])
    return SanitizerReport(
        check="race",
        kind=finding.kind,
        severity=finding.severity,
        kernel=facts.kernel,
        message=finding.message,
        file=file,
        line=line,
        block=row.block(),
        thread=facts.thread(row[Report.WAVE], row[Report.LANE]),
        lane=row.lane(),
        address=row.address,
        nbytes=row[Report.SIZE],
        array=place.array if place else None,
        index=place.indices if place else None,
        shape=place.shape if place else None,
        other=Origin(finding.other, other_file, other_line, facts.block(row[Report.OTHER_GROUP]), thread),
        count=row[Report.COUNT],
        instruction=facts.instruction(site),
        help=finding.help,
    )


def _finding(number: int, where: str, same_block: bool) -> _Finding:
    if number >= CONFLICT:
        return _Finding(
            "lanes",
            f"lanes of one store write different values to {where}: which one stays is not defined",
            "the other lane",
            "let one lane store (`if threadIdx.x == 0:`), combine the values first, or use an atomic operation",
            "warning",
        )
    who = "another wave of the workgroup" if same_block else "another workgroup"
    if number == LACKING:
        return _Finding(
            "fence",
            f"access to {where}, whose store by {who} the barrier between them does not wait for",
            "the store",
            "that barrier orders LDS only: use `syncthreads()`, which waits for stores to global memory, too",
        )
    mine, theirs = AccessKind(number % 9 // 3), AccessKind(number % 3)
    first, second = _WORDS[mine], _WORDS[theirs]
    if mine is theirs is AccessKind.ATOMIC:
        return _Finding(
            "scope",
            f"atomic operation on {where} races with that of {who}: its scope is too narrow for both",
            "the other atomic operation",
            'give both scope="agent" (the default), or wider',
        )
    kind = "lds" if number >= 9 else "global"
    if AccessKind.ATOMIC in (mine, theirs):
        remedy = "make both accesses atomic, or " + (_WITHIN_GROUP if same_block else _BETWEEN_GROUPS)
    else:
        remedy = _WITHIN_GROUP if same_block else _BETWEEN_GROUPS
    article = "an" if second.startswith("a") else "a"
    return _Finding(kind, f"{first} of {where} races with {article} {second} by {who}", f"the {second}", remedy)
