"""The reference of the cycle model is found by its modules' names."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "reference"))
