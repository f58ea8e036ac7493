"""From the rows of the check for undefined values to reports: where a value mattered, and where it
came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amdjit.checking.array_places import Place
from amdjit.diagnostics.sanitizer import Origin, SanitizerReport
from amdjit.emulator.checks.findings import Finding, LaunchFacts, Row, report_of
from amdjit.emulator.checks.init.kinds import InitKind
from amdjit.emulator.checks.init.value_origins import loads_before, places_read
from amdjit.emulator.layout import INIT_KINDS, PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH, Report
from amdjit.isa.analysis.control_flow import Graph
from amdjit.late_methods import dataclass

_ADDRESSES = frozenset({"vaddr", "saddr", "sbase", "soffset", "rsrc", "addr"})
_DATA = frozenset({"vdata", "data0", "data1"})
_NAMES: Mapping[InitKind, tuple[str, str]] = {
    InitKind.ADDRESS: ("undefined-address", "an address is computed from"),
    InitKind.BRANCH: ("undefined-branch", "a branch depends on"),
    InitKind.STORE: ("undefined-store", "what is stored to global memory comes from"),
    InitKind.ATOMIC: ("undefined-atomic", "an atomic operation works on"),
}


class InitReports:
    """The reports of one launch; `rows` are all of its rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._loads = [row for row in rows if row[Report.KIND] == InitKind.LOADED]
        self._graph: Graph | None = None

    def report(self, row: Row, facts: LaunchFacts) -> SanitizerReport | None:
        """Return the report of a row, None if it only says where a value came from."""
        kind = InitKind(row[Report.KIND])
        if kind is InitKind.LOADED:
            return None
        name, what = _NAMES[kind]
        source = self._source(row, facts)
        message = f"{what} {source.text}, which was never written"
        finding = Finding(name, message, source.help, source.origin, place=source.place)
        return report_of("init", finding, row, facts, source.address)

    def _source(self, row: Row, facts: LaunchFacts) -> _Source:
        graph = self._code(facts)
        pcs = facts.compiled.site_pcs
        pc = pcs[row[Report.SITE]]
        by_pc = {pcs[load[Report.SITE]]: load for load in self._loads}
        instruction = next(
            i for block in graph.blocks.values() for i in block.instructions if i.pc == pc
        )
        if row[Report.KIND] == InitKind.ATOMIC and pc in by_pc:
            return _described(by_pc[pc], facts, None)
        roles = {InitKind.ADDRESS: _ADDRESSES, InitKind.STORE: _DATA, InitKind.ATOMIC: _DATA}
        places = places_read(instruction, facts.wave_size, roles.get(InitKind(row[Report.KIND])))
        for load_pc in loads_before(graph, pc, places):
            if load_pc in by_pc:
                load = by_pc[load_pc]
                file, line = facts.line(load[Report.SITE])
                thread = facts.thread(load[Report.WAVE], load[Report.LANE])
                same = load.block() == row.block() and thread == facts.thread(
                    row[Report.WAVE], row[Report.LANE]
                )
                origin = Origin(
                    "loaded" if same else "loaded, first", file, line, load.block(), thread
                )
                return _described(load, facts, origin)
        return _Source(
            "a register", help="a variable is used on a path on which it was never given a value"
        )

    def _code(self, facts: LaunchFacts) -> Graph:
        if self._graph is None:
            self._graph = facts.function.module.kernels.graph(facts.function.kernel)
        return self._graph


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a value came from, in words."""

    text: str
    address: int | None = None
    place: Place | None = None
    origin: Origin | None = None
    help: str = ""


def _described(load: Row, facts: LaunchFacts, origin: Origin | None) -> _Source:
    """Describe the memory of a load. The first one that was seen need not be by the work-item whose
    value mattered."""
    aperture, address = load.address >> 32, load.address
    precise = origin is None or origin.what == "loaded"
    if aperture == SHARED_APERTURE_HIGH:
        address &= (1 << 32) - 1
        shared = facts.lds_place(address)
        text = f"byte {address} of the workgroup's LDS"
        text = text if precise else f"the workgroup's LDS (byte {address}, for one)"
        hint = (
            "let every element of the shared array be written before it is read, with a "
            "barrier in between"
        )
        return _Source(_element(shared, precise) if shared else text, address, shared, origin, hint)
    if aperture == PRIVATE_APERTURE_HIGH:
        hint = "give every element of the local array, and every variable, a value first"
        return _Source("the work-item's private memory", None, None, origin, hint)
    place = facts.place(load)
    text = f"global memory at {address:#x}"
    if place is not None:
        text = _element(place, precise)
    hint = (
        "write the memory first: copy to it, or make it with amdjit.zeros instead of amdjit.empty"
    )
    return _Source(text, address, place, origin, hint)


def _element(place: Place, precise: bool) -> str:
    text = f"{place.text} of shape {place.shape}"
    return text if precise else f"{place.array} of shape {place.shape} ({place.text}, for one)"


__all__ = ["INIT_KINDS", "InitReports"]
