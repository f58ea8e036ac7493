"""The embedded device: runs gfx12 code objects on the CPU by translating their machine code to host
code."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amdjit.emulator.checks.waits.code_object import find_missing_waits
    from amdjit.emulator.device import EmulatorDevice
    from amdjit.emulator.running import run

__all__ = ["EmulatorDevice", "find_missing_waits", "run"]

_MODULES = {
    "EmulatorDevice": "amdjit.emulator.device",
    "find_missing_waits": "amdjit.emulator.checks.waits.code_object",
    "run": "amdjit.emulator.running",
}


def __getattr__(name: str) -> Any:
    # The translator takes 25 ms to import, a sixth of what `import amdjit` may take, and who only
    # compiles never needs it: so it is loaded at the first use of these names. The decoder beside
    # it is needed by all.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
