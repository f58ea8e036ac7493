"""The embedded device: runs code objects of gfx9, gfx11 and gfx12 on the CPU by translating their
machine code to host code.

The rooms, top first; each imports only what stands below it (contracts in pyproject.toml):

    running, device      the device that the rest of amdjit launches on
    checks               memory, race, init, sync, waits: what no GPU checks
    launch               a launch: kernarg, workspace, dispatch, faults
    tiers                a kernel as host code, in two tiers
    instructions         an emitter for each mnemonic   | scheduling   workgroups, barriers, driver
    wave                 registers, operands, MODE while a kernel is translated
    expressions          the ISA's arithmetic
    host                 IR, JIT, native library        | memory       allocations of the device
    layout               the memory that Python and host code share

Machine code itself, its decoder and facts about it, is below all of them, in `amdjit/isa`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amdjit.late import late_names

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

# The translator takes 25 ms to import, a sixth of what `import amdjit` may take, and programs that
# only compile never need it: it is loaded when one of these names is first used.
__getattr__ = late_names(__name__, _MODULES)
