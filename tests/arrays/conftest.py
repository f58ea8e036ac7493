"""The tests of this room run twice: here, and in a child process on `hip:0` of the stand-in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime" / "standin_hip"))

import standin

from amdjit.emulator.device import EmulatorDevice
from amdjit.target import find_target
from tests.arrays.standin_room import ON_STANDIN

if ON_STANDIN in os.environ:
    target = find_target("gfx1201")
    assert target is not None
    standin.EmulatedGpu(EmulatorDevice(target)).install()


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(12)


@pytest.fixture
def on_standin() -> bool:
    """Whether the current device is the stand-in's, which does its work late."""
    return ON_STANDIN in os.environ
