"""Device memory that is never freed: reported at the end of the `sanitize` block in which it was
allocated, or of the process."""

from __future__ import annotations

import atexit
from functools import partial

from amdjit.checking.sanitizing import ACTIVE
from amdjit.checking.settings import Settings, publish, settings_for
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.checks.memory.quarantine import CallPlace, Quarantine
from amdjit.emulator.memory import DeviceMemory, Range
from amdjit.options import Environment


def watch(memory: DeviceMemory, address: int, environment: Environment) -> None:
    """Note where an allocation is made, and report it if it is not freed in time.

    The memory of arrays is left out of reports: they free it themselves.
    """
    allocation = memory.holding(address)
    made = memory.observer(Quarantine).note(allocation) if allocation is not None else None
    if allocation is None or made is None or made.by_array:
        return
    tell = partial(_tell, memory, allocation, made, settings_for((), environment))
    blocks = [block for block in ACTIVE.get() if "memory" in block.own_checks]
    if blocks:
        blocks[-1].at_exit.append(tell)
    else:
        atexit.register(tell)


def _tell(memory: DeviceMemory, allocation: Range, made: CallPlace, settings: Settings) -> None:
    if memory.holding(allocation.start) is allocation:
        memory.collect()  # what would free it may be in a cycle of references
    if memory.holding(allocation.start) is not allocation:
        return
    nbytes = allocation.end - allocation.start
    report = SanitizerReport(
        check="memory",
        kind="leak",
        severity="warning",
        kernel="",
        message=f"{nbytes} bytes of device memory are not freed",
        file=made.file,
        line=made.line,
        address=allocation.start,
        nbytes=nbytes,
        help="call the device's `free`, or use arrays (`amdjit.empty`), which free their memory "
        "by themselves",
    )
    publish((report,), settings)
