"""Puts the emulator behind the stand-in for HIP, in every process of Python that starts with this
folder in PYTHONPATH: the doctor starts processes of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if "STANDIN_HIP_SITE" in os.environ:
    sys.path.append(str(Path(__file__).parents[2] / "runtime" / "standin_hip"))

    import standin

    from amdjit.emulator.device import EmulatorDevice
    from amdjit.target import find_target

    target = find_target(os.environ.get("STANDIN_HIP_ARCH", "gfx1201"))
    if target is not None and target.is_emulated:
        standin.EmulatedGpu(EmulatorDevice(target)).install()
