"""Run `amdjit probe` on a GPU that is not there, and that may be altered:

    python altered_device.py [--alter NAME] [--target gfx1201] [options of amdjit probe]

The device is `hip:0`: the real hip-python, the stand-in libamdhip64.so below it and amdjit's
emulator below that. ALTERATIONS in `alterations.py` are functions that change that emulator as its
process starts. The emulator that the probe compares with runs in processes of its own, which are
not altered. STANDIN_HIP_CYCLES says whose time the device's events tell (`modelled_time.py`). An
altered process keeps no translated code on disk.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[2]))
sys.path.insert(2, str(Path(__file__).resolve().parents[1] / "runtime" / "standin_hip"))

import standin
from modelled_time import chosen_time

from amdjit.command_line import main as amdjit_command
from amdjit.emulator.device import EmulatorDevice
from amdjit.probe import child, session
from amdjit.probe.processes import Processes
from amdjit.probe.timing.batches import measurements
from amdjit.probe.timing.experiment import Effort
from amdjit.target import read_target
from tests.probe.alterations import ALTERATIONS

CHILD = "--as-the-chip"


def processes(alteration: str = "", target: str = "gfx1201", **settings: str) -> Processes:
    """Return processes whose chip is the stand-in with an alteration."""
    here = str(Path(__file__).resolve())
    variables = {
        name: value
        for name, value in standin.environment(arch=target, **settings).items()
        if os.environ.get(name) != value
    }
    return Processes(
        chip=(sys.executable, here, CHILD, alteration or "none"), environment=variables
    )


def as_the_chip(alteration: str, arguments: Sequence[str]) -> int:
    """Be a process of the probe on the device: alter the emulator, put it below HIP, and do the
    task."""
    if alteration != "none":
        os.environ["AMDJIT_CACHE_DIR"] = ""
        ALTERATIONS[alteration]()
    target = read_target(os.environ["STANDIN_HIP_ARCH"])
    clock = chosen_time()
    if clock is not None:
        # Modelled time is exact: the fewest repetitions do, and the model records no longer ones.
        measurements.__defaults__ = (Effort(seconds=0, samples=2),)
    standin.EmulatedGpu(EmulatorDevice(target), clock).install()
    return child.main(list(arguments))


def _option(arguments: list[str], name: str, default: str) -> str:
    if name not in arguments:
        return default
    place = arguments.index(name)
    _, value = arguments[place], arguments[place + 1]
    del arguments[place : place + 2]
    return value


def main(arguments: list[str]) -> int:
    """Run the command with the stand-in as its GPU."""
    if arguments[:1] == [CHILD]:
        return as_the_chip(arguments[1], arguments[2:])
    alteration = _option(arguments, "--alter", "")
    target = _option(arguments, "--target", "gfx1201")
    vars(session)["Processes"] = lambda: processes(alteration, target)
    return amdjit_command(["probe", "--patience", "20", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
