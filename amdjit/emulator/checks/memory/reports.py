"""From the rows of the memory check to reports.

Native code compares every address in every launch: the rows of wrong ones have the kinds of faults.
"""

from __future__ import annotations

from amdjit.abi.code_marks import index_at
from amdjit.checking.array_places import Place, place_of, signed_offset
from amdjit.diagnostics.sanitizer import Origin, SanitizerReport
from amdjit.emulator.checks.findings import Finding, LaunchFacts, Row, report_of
from amdjit.emulator.checks.memory.instrument import WIDE, MemoryKind
from amdjit.emulator.checks.memory.quarantine import Freed, Quarantine
from amdjit.emulator.launch.faults import global_verb
from amdjit.emulator.layout import FaultKind, Report

# Nothing is ever allocated so low: an address there comes from a null pointer.
_NULL_END = 1 << 16


def memory_report(row: Row, facts: LaunchFacts) -> SanitizerReport:
    """Return the report of a wrong access."""
    return report_of(
        "memory",
        _finding(row, facts),
        row=row,
        facts=facts,
        address=row.address,
        nbytes=row[Report.SIZE],
    )


def _finding(row: Row, facts: LaunchFacts) -> Finding:
    kind, size, address = row[Report.KIND], row[Report.SIZE], row.address
    if kind == MemoryKind.MISALIGNED_LDS:
        return Finding(
            "misaligned",
            f"access of {size} bytes at LDS byte {address}, which {8 if size == WIDE else 16} "
            "does not divide",
            "`load` and `store` of LDS promise a multiple of their size: index with a multiple of "
            "the width, give the alignment as the third argument, or load elements",
            severity="warning",
        )
    if kind == FaultKind.LDS:
        end = facts.function.kernel.descriptor.group_segment_bytes + facts.geometry.dynamic_lds
        place = facts.lds_place(signed_offset(address))
        name = f" ({place.text} of shape {place.shape})" if place else ""
        return Finding(
            "lds-out-of-bounds",
            f"access of {size} bytes at LDS byte {signed_offset(address)}{name}; the workgroup "
            f"has {end} bytes",
            "check the index against the shared array's shape, or make the array (or the launch's "
            "dynamic LDS) larger",
            place=place,
        )
    index = index_at(address) if kind == FaultKind.SCRATCH else None
    if index is not None:
        return Finding(
            "scratch-overflow",
            f"index {index} is outside of the local array, or of the vector",
            "check the index against its length",
        )
    if kind == FaultKind.SCRATCH:
        return Finding(
            "scratch-overflow",
            f"access of {size} bytes at byte {signed_offset(address)} of the work-item's private "
            "memory, outside of it",
            "check the index against the local array's shape",
        )
    if kind == FaultKind.MISALIGNED:
        return _misaligned(row, facts)
    return _global(row, facts, kind == FaultKind.GLOBAL_STORE)


def _misaligned(row: Row, facts: LaunchFacts) -> Finding:
    size, address, place = row[Report.SIZE], row.address, facts.place(row)
    where = f"{place.text} ({address:#x})" if place else f"{address:#x}"
    return Finding(
        "misaligned",
        f"atomic operation of {size} bytes at {where}, which {size} does not divide",
        "atomic operations need addresses that their size divides",
        place=place,
    )


def _global(row: Row, facts: LaunchFacts, writes: bool) -> Finding:
    size, address = row[Report.SIZE], row.address
    verb = global_verb(facts.instruction(row[Report.SITE]), writes)
    what = f"{verb} of {size} byte{'s' * (size > 1)}"
    if address < _NULL_END:
        return Finding(
            "null", f"{what} through a null pointer, at {address:#x}", "the address was never set"
        )
    place = facts.place(row)
    freed = facts.memory.observer(Quarantine).find(address)
    if freed is not None and (
        place is None or not place.is_inside or facts.memory.holding(address) is None
    ):
        return _use_after_free(what, address, freed)
    holding = facts.memory.holding(address)
    if holding is not None and writes and address + size <= holding.end:
        return _read_only(what, holding.label, place_of(facts.arguments, address), place)
    if place is None:
        near = facts.memory.nearest(address)
        notes = (
            ()
            if near is None
            else (f"nearest: {near.nbytes} bytes at {near.address:#x}, {near.distance:+} bytes",)
        )
        return Finding(
            "out-of-bounds", f"{what} at {address:#x}, which is in no allocation", "", notes=notes
        )
    outside = "reaching beyond" if place.is_inside else "outside of"
    return Finding(
        "out-of-bounds",
        f"{what} at {place.text}, {outside} {place.array} of shape {place.shape}",
        f"check the index against {place.array}.shape before the {verb}",
        place=place,
    )


def _use_after_free(what: str, address: int, freed: Freed) -> Finding:
    start, end = freed.allocation.start, freed.allocation.end
    return Finding(
        "use-after-free",
        f"{what} at byte {address - start} of {end - start} that were freed",
        "keep the array (or the allocation) until the last launch that uses its memory has ended",
        other=None if freed.freed is None else Origin("freed", freed.freed.file, freed.freed.line),
        notes=(f"made {freed.made.text}",),
    )


def _read_only(what: str, label: str, hit: Place | None, meant: Place | None) -> Finding:
    if hit is None or not hit.is_inside:
        return Finding(
            "read-only", f"{what} to {label or 'read-only memory'}", "nothing may be written there"
        )
    other = meant if meant is not None and meant.array != hit.array else None
    return Finding(
        "read-only",
        f"{what} to {hit.text} of shape {hit.shape}, an input that the kernel does not write",
        "it comes from an index of another array that went wrong: nothing in the kernel writes "
        f"{hit.array}",
        notes=(f"as an index of {other.array} it is {other.text} of shape {other.shape}",)
        if other
        else (),
        place=hit,
    )
