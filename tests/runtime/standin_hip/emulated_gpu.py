"""The stand-in's GPU with its work done by an emulator, which several files of checks use."""

from __future__ import annotations

import os

import standin
from modelled_time import chosen_time

from amdjit.emulator.device import EmulatorDevice
from amdjit.target import find_target

TARGET = find_target(os.environ.get("STANDIN_HIP_ARCH", "gfx1201"))
assert TARGET is not None
GPU = standin.EmulatedGpu(EmulatorDevice(TARGET), chosen_time())
GPU.install()
