"""From the rows of the synchronisation check to reports."""

from __future__ import annotations

from amdjit.diagnostics.sanitizer import Origin, SanitizerReport
from amdjit.emulator.checks.findings import Finding, LaunchFacts, Row, report_of
from amdjit.emulator.checks.sync.instrument import SyncKind
from amdjit.emulator.checks.waits.code_object import LocatedWait, kernel_waits
from amdjit.emulator.layout import Report

_BARRIER_BYTES = 4


_LANES = {
    SyncKind.DIVERGENT: Finding(
        "divergent-barrier",
        "only some lanes of a wave reach this barrier: this work-item does not",
        "move the barrier out of the branch or loop that not all work-items take, and let none "
        "return before it",
    ),
    SyncKind.MATRIX: Finding(
        "matrix-partial-exec",
        "a matrix instruction runs while some lanes of the wave are inactive, this one among "
        "them: it needs their parts",
        "let all lanes of the wave reach it: no branch that depends on the lane, and blocks of "
        "whole waves",
    ),
    SyncKind.TRANSPOSE: Finding(
        "transpose-partial-exec",
        "a transposing load runs while some lanes of the wave are inactive, this one among them: "
        "others need its part",
        "let all lanes of the wave reach it: no branch that depends on the lane, and blocks of "
        "whole waves",
    ),
    SyncKind.TWICE: Finding(
        "signalled-twice",
        "a wave signals the workgroup's barrier again before it has completed: the signal counts "
        "for a wave that has not signalled",
        "let each wave signal once and then wait",
    ),
}


def sync_report(row: Row, facts: LaunchFacts) -> SanitizerReport:
    """Return the report of a row."""
    kind = SyncKind(row[Report.KIND])
    if kind is SyncKind.UNREACHED:
        return _unreached(row, facts)
    if kind is SyncKind.DIFFERENT:
        return _different(row, facts)
    if kind is SyncKind.WAIT:
        return _missing_wait(row, facts)
    if kind is SyncKind.OVERRUN:
        return _overrun(row, facts)
    if kind is SyncKind.TWICE and row[Report.ADDRESS] < 0:
        # The wave signals and waits in one step: the site is an id to resume from.
        pc = facts.compiled.resume_pcs[row[Report.SITE]] - _BARRIER_BYTES
        return report_of("sync", _LANES[kind], row, facts, pc=pc)
    return report_of("sync", _LANES[kind], row, facts)


def _unreached(row: Row, facts: LaunchFacts) -> SanitizerReport:
    """Waves went on from a barrier although another wave had ended: its number and end site are in
    place of an address."""
    pc = facts.compiled.resume_pcs[row[Report.SITE]] - _BARRIER_BYTES
    ended, end_site = row.address & (1 << 32) - 1, row.address >> 32
    other = Origin(
        f"wave {ended} ended before", *facts.line(end_site), row.block(), facts.thread(ended, 0)
    )
    finding = Finding(
        "unreached-barrier",
        f"a barrier is not reached by all waves of the workgroup: wave {ended} has ended",
        "let all work-items reach each barrier: instead of returning early, skip the work",
        other,
    )
    return report_of("sync", finding, row, facts, pc=pc)


def _different(row: Row, facts: LaunchFacts) -> SanitizerReport:
    """Waves wait at two barriers, which the hardware takes for one: the second's resume id is in
    place of an address."""
    pcs = facts.compiled.resume_pcs
    finding = Finding(
        "different-barriers",
        f"waves of a workgroup wait at different barriers: wave {row[Report.WAVE]} waits here",
        "the hardware takes them for one barrier; if that is not meant, let all waves reach the "
        "same barriers",
        Origin(
            "the waves before it wait here",
            *facts.line_of(pcs[row.address] - _BARRIER_BYTES),
            row.block(),
        ),
        severity="warning",
    )
    return report_of("sync", finding, row, facts, pc=pcs[row[Report.SITE]] - _BARRIER_BYTES)


def _overrun(row: Row, facts: LaunchFacts) -> SanitizerReport:
    """A barrier has completed again before a wave has waited for it.

    Of a named barrier this is found at a signal, with the wave's number in place of an address; of
    the workgroup's when the wave waits, with -1.
    """
    own = row[Report.ADDRESS] < 0
    pcs = facts.compiled.resume_pcs if own else facts.compiled.site_pcs
    wave = row[Report.WAVE] if own else row.address
    finding = Finding(
        "barrier-overrun",
        f"a barrier has completed twice before wave {wave} waits for it: the wave misses one",
        "let the waves that wait also signal, as often as they wait: then the barrier cannot "
        "complete without them",
    )
    return report_of(
        "sync", finding, row, facts, pc=pcs[row[Report.SITE]] - (_BARRIER_BYTES if own else 0)
    )


def _missing_wait(row: Row, facts: LaunchFacts) -> SanitizerReport:
    pc = facts.compiled.site_pcs[row[Report.SITE]]
    found = next(wait for wait in _waits(facts) if wait.wait.pc == pc)
    file, line = found.load_line or (None, None)
    finding = Finding(
        "missing-wait",
        found.wait.message,
        f"put {found.wait.wait} before this instruction; the emulator's result is right, but a "
        "GPU's may not be",
        Origin(found.wait.load_text, file, line),
    )
    return report_of("sync", finding, row, facts, pc=pc)


def _waits(facts: LaunchFacts) -> tuple[LocatedWait, ...]:
    module, kernel = facts.function.module, facts.function.kernel
    return kernel_waits(module.code_object, kernel, module.kernels.graph(kernel))
