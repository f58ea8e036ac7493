"""The tests of the probe's machine code use those of the decoder."""

from __future__ import annotations

import sys
from pathlib import Path

_EMULATOR = Path(__file__).parents[2] / "emulator"
sys.path[:0] = [str(Path(__file__).parent), str(_EMULATOR), str(_EMULATOR / "decoder")]
