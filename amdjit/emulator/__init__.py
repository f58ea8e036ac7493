"""The embedded device: runs gfx12 code objects on the CPU by translating their machine code to host code."""

from __future__ import annotations

from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.run import run

__all__ = ["EmulatorDevice", "run"]
