"""Device memory that nobody frees: told at the end of the `sanitize` block that it was made in, or
of the process."""

from __future__ import annotations

import atexit
import gc
from functools import partial

from amdjit.checking.sanitizing import ACTIVE
from amdjit.checking.settings import Settings, publish, settings_for
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator.memory import DeviceMemory, Range
from amdjit.options import Environment


def watch(memory: DeviceMemory, address: int, environment: Environment) -> None:
    """Remember to report an allocation that is not freed in time. Arrays are left out: they free
    their memory."""
    allocation = memory.holding(address)
    if allocation is None or allocation.made is None or allocation.made.by_array:
        return
    tell = partial(_tell, memory, allocation, settings_for((), environment))
    blocks = [block for block in ACTIVE.get() if "memory" in block.own_checks]
    if blocks:
        blocks[-1].at_exit.append(tell)
    else:
        atexit.register(tell)


def _tell(memory: DeviceMemory, allocation: Range, settings: Settings) -> None:
    gc.collect()  # whoever would free it may be in a cycle of references
    if memory.holding(allocation.start) is not allocation or allocation.made is None:
        return
    report = SanitizerReport(
        check="memory",
        kind="leak",
        severity="warning",
        kernel="",
        message=f"{allocation.end - allocation.start} bytes of device memory are not freed",
        file=allocation.made.file,
        line=allocation.made.line,
        address=allocation.start,
        nbytes=allocation.end - allocation.start,
        help="call the device's `free`, or use arrays (`amdjit.empty`), which free their memory "
        "by themselves",
    )
    publish((report,), settings)
