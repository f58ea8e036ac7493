"""Device memory that is never freed: reported at the end of the `sanitize` block in which it was
allocated, or of the process. What one line has allocated is one report."""

from __future__ import annotations

import atexit
from collections import defaultdict
from functools import partial
from typing import NamedTuple

from amdjit.checking.sanitizing import ACTIVE, sanitize
from amdjit.checking.settings import Settings, publish, settings_for
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.memory.quarantine import PROGRAM_PLACE, CallPlace, Quarantine
from amdjit.emulator.memory import DeviceMemory, MemoryObserver, Range
from amdjit.options import Environment

_HELP = (
    "call the device's `free`, or use arrays (`amdjit.empty`), which free their memory by "
    "themselves"
)
_HELP_FOR_PROGRAMS = "free it before the program ends, such as by hipFree"


class _Source(NamedTuple):
    """Who allocates, and who is told: reports are by these. block: None if it is the process's end
    that is waited for. is_program: the program uses HIP."""

    made: CallPlace
    is_program: bool
    settings: Settings
    block: sanitize | None


class Unfreed(MemoryObserver):
    """The allocations that are noted and not freed yet, by their address.

    Finalizers may call it: the steps of a dict are safe.
    """

    def __init__(self) -> None:
        self._sources: dict[int, tuple[_Source, int]] = {}
        self._ends: set[sanitize | None] = set()

    def note(self, allocation: Range, source: _Source) -> bool:
        """Note an allocation; return whether it is the first one of its block."""
        self._sources[allocation.start] = source, allocation.end - allocation.start
        is_first = source.block not in self._ends
        self._ends.add(source.block)
        return is_first

    def freed(self, allocation: Range) -> None:
        """Forget an allocation."""
        self._sources.pop(allocation.start, None)

    def take(self, block: sanitize | None) -> dict[_Source, list[tuple[int, int]]]:
        """Return addresses and sizes of what is not freed at the end of a block, and forget it."""
        found: dict[_Source, list[tuple[int, int]]] = defaultdict(list)
        self._ends.discard(block)
        for address, (source, nbytes) in list(self._sources.items()):
            if source.block is block:
                found[source].append((address, nbytes))
                del self._sources[address]
        return found

    def has(self, block: sanitize | None) -> bool:
        """Whether anything of a block is not freed."""
        return any(source.block is block for source, _ in list(self._sources.values()))


def watch(memory: DeviceMemory, address: int, environment: Environment) -> None:
    """Note where an allocation is made, and report it if it is not freed in time.

    The memory of arrays is left out of reports: they free it themselves.
    """
    allocation = memory.holding(address)
    made = memory.observer(Quarantine).note(allocation) if allocation is not None else None
    if allocation is None or made is None or made.by_array:
        return
    blocks = [block for block in ACTIVE.get() if "memory" in block.own_checks]
    block = blocks[-1] if blocks else None
    source = _Source(made, PROGRAM_PLACE.get() is not None, settings_for((), environment), block)
    if memory.observer(Unfreed).note(allocation, source):
        tell = partial(_tell, memory, block)
        if block is None:
            atexit.register(tell)
        else:
            block.at_exit.append(tell)


def _tell(memory: DeviceMemory, block: sanitize | None) -> None:
    unfreed = memory.observer(Unfreed)
    if unfreed.has(block):
        memory.collect()  # what would free it may be in a cycle of references
    for source, allocations in unfreed.take(block).items():
        nbytes = sum(each for _, each in allocations)
        of = f" in {len(allocations)} allocations" if len(allocations) > 1 else ""
        report = SanitizerReport(
            check="memory",
            kind="leak",
            severity="warning",
            kernel="",
            message=f"{nbytes} bytes of device memory{of} are not freed",
            file=source.made.file,
            line=source.made.line,
            address=allocations[0][0],
            nbytes=nbytes,
            count=len(allocations),
            notes=() if source.made.file is not None else (f"allocated {source.made.text}",),
            help=_HELP_FOR_PROGRAMS if source.is_program else _HELP,
        )
        publish((report,), source.settings)
