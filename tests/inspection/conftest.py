"""What the tests of inspection share: the emulator's kernels and models."""

from __future__ import annotations

import sys
from pathlib import Path

_EMULATOR = Path(__file__).parents[1] / "emulator"
sys.path[:0] = [
    str(Path(__file__).parent),
    str(Path(__file__).with_name("lanes")),
    str(_EMULATOR),
    str(_EMULATOR / "checks"),
]
