"""Run a Python script on a HIP device that is not there: `python run_with_standin.py script.py
arguments...`

The script gets the real hip-python, the stand-in libamdhip64.so below it, and amdjit's emulator
below that. amdjit sees one GPU, `hip:0`, and AMDJIT_DEVICE says to use it.
STANDIN_HIP_CYCLES says whose time its events tell (`modelled_time.py`).
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(1, str(Path(__file__).resolve().parents[3]))

import standin
from modelled_time import chosen_time

from amdjit.late import late
from amdjit.target import find_target

# The process that only starts anew needs no emulator.
if TYPE_CHECKING:
    from amdjit.emulator import device as emulator
else:
    emulator = late("amdjit.emulator.device")

READY = "STANDIN_HIP_READY"


def main() -> None:
    """Start anew with the stand-in in the environment, then run the script."""
    script, *arguments = sys.argv[1:]
    if READY not in os.environ:
        variables = standin.environment() | {READY: "1", "AMDJIT_DEVICE": "hip:0"}
        os.execve(sys.executable, [sys.executable, __file__, script, *arguments], variables)
    target = find_target(os.environ.get("STANDIN_HIP_ARCH", "gfx1201"))
    assert target is not None, "STANDIN_HIP_ARCH names no target of amdjit"
    standin.EmulatedGpu(emulator.EmulatorDevice(target), chosen_time()).install()
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
