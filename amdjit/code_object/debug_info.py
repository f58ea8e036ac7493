"""What `.debug_info` says about an address: the calls that were inlined there, and the variables
with the registers that hold them. DWARF versions 3 to 5.

`read_debug_info` reads the file's entries; the `dwarf_…` modules beside this one know the encoding.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from heapq import heappop, heappush

from amdjit.code_object.dwarf_entries import Attribute, Entry, Tag
from amdjit.code_object.dwarf_unit import Unit, read_all_units
from amdjit.code_object.dwarf_variables import Variable, VariablePiece, VariableReader
from amdjit.code_object.elf import ElfFile
from amdjit.late_methods import dataclass, field

__all__ = ["DebugInfo", "InlinedCall", "Variable", "read_debug_info", "read_parameters"]

# The function that was called, and the file and line of the call.
InlinedCall = tuple[str, str, int]
_SCOPES = frozenset([Tag.SUBPROGRAM, Tag.INLINED_SUBROUTINE, Tag.LEXICAL_BLOCK])


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A function, an inlined call of one, or a block in one. call: of an inlined call."""

    function: str
    parent: Scope | None
    ranges: tuple[tuple[int, int], ...]
    call: InlinedCall | None = None

    def calls(self) -> tuple[InlinedCall, ...]:
        """Return the inlined calls around code of the scope, the innermost first."""
        found: list[InlinedCall] = []
        scope: Scope | None = self
        while scope is not None:
            if scope.call is not None:
                found.append(scope.call)
            scope = scope.parent
        return tuple(found)


@dataclass(frozen=True)
class DebugInfo:
    """The debug information of a code object; empty without any. producer: the compiler, "" if no
    unit names one."""

    producer: str = ""
    # From each start to the next one, the innermost scope is the one of the same number.
    _starts: tuple[int, ...] = field(default=(), repr=False)
    _scopes: tuple[Scope | None, ...] = field(default=(), repr=False)
    _pieces: tuple[VariablePiece, ...] = field(default=(), repr=False)

    @property
    def has_variables(self) -> bool:
        """Whether any variable has a place anywhere."""
        return bool(self._pieces)

    def scope_at(self, address: int) -> Scope | None:
        """Return the innermost scope of the instruction at an address, None if it is in none."""
        index = bisect_right(self._starts, address) - 1
        return self._scopes[index] if index >= 0 else None

    def inline_stack(self, address: int) -> tuple[InlinedCall, ...]:
        """Return the calls through which the instruction at an address came into its function, the
        innermost first: the function that was called, and the file and line of the call."""
        scope = self.scope_at(address)
        return scope.calls() if scope is not None else ()

    def variables_at(self, address: int) -> tuple[Variable, ...]:
        """Return the variables that have a known place before the instruction at an address, in the
        order of the debug information."""
        return tuple(piece.variable for piece in self._pieces if piece.start <= address < piece.end)


def read_debug_info(elf: ElfFile) -> DebugInfo:
    """Return the file's debug information, empty without any; MalformedCodeObject if it is
    broken."""
    producers: list[str] = []
    spans: list[tuple[int, int, int]] = []
    scopes: list[Scope] = []
    pieces: list[VariablePiece] = []
    for unit in read_all_units(elf):
        producers.append(unit.text(unit.root, Attribute.PRODUCER))
        variables = VariableReader(unit)
        of_entry: dict[int, Scope] = {}
        for entry in unit.raw.entries:
            parent = of_entry.get(entry.parent.offset) if entry.parent is not None else None
            if entry.tag in _SCOPES:
                scope = _scope(unit, entry, parent)
                of_entry[entry.offset] = scope
                spans += [(start, end, len(scopes)) for start, end in scope.ranges]
                scopes.append(scope)
            elif parent is not None:
                pieces += variables.read(entry, parent.ranges, parent.function)
    starts, innermost = _innermost(spans)
    return DebugInfo(
        next(filter(None, producers), ""),
        tuple(starts),
        tuple(scopes[index] if index is not None else None for index in innermost),
        tuple(pieces),
    )


def read_parameters(elf: ElfFile, address: int) -> tuple[tuple[str, str], ...]:
    """Return the names of the parameters of the function whose code begins at an address, and their
    types as the debug information calls them; none without any."""
    for unit in read_all_units(elf):
        types = VariableReader(unit)
        for function in unit.raw.entries:
            if function.tag != Tag.SUBPROGRAM or (address not in dict(unit.ranges(function))):
                continue
            return tuple(
                (unit.name(entry), types.type_of(entry))
                for entry in unit.raw.entries
                if entry.parent is function and entry.tag == Tag.FORMAL_PARAMETER
            )
    return ()


def _scope(unit: Unit, entry: Entry, parent: Scope | None) -> Scope:
    """Return the scope of an entry. One without addresses of its own has those around it."""
    ranges = unit.ranges(entry)
    if entry.tag == Tag.LEXICAL_BLOCK:
        function = parent.function if parent is not None else ""
        return Scope(function, parent, ranges or (parent.ranges if parent is not None else ()))
    function = unit.name(entry)
    if entry.tag == Tag.SUBPROGRAM:
        return Scope(function, None, ranges)
    file = unit.file(unit.number(entry, Attribute.CALL_FILE) or 0)
    line = unit.number(entry, Attribute.CALL_LINE) or 0
    return Scope(function, parent, ranges, (function, file, line))


def _innermost(
    spans: Iterable[tuple[int, int, int]],
) -> tuple[list[int], list[int | None]]:
    """Return the addresses at which the innermost span changes, and its number from there on.

    spans: (start, end, number); inner ones have higher numbers.
    """
    waiting = sorted(spans, reverse=True)
    active: list[tuple[int, int]] = []
    starts: list[int] = []
    numbers: list[int | None] = []
    for place in sorted({place for start, end, _ in waiting for place in (start, end)}):
        while waiting and waiting[-1][0] == place:
            _, end, number = waiting.pop()
            heappush(active, (-number, end))
        while active and active[0][1] <= place:
            heappop(active)
        number_here = -active[0][0] if active else None
        if not numbers or numbers[-1] != number_here:
            starts.append(place)
            numbers.append(number_here)
    return starts, numbers
