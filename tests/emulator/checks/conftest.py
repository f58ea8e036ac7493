"""Let these tests import their own modules and the kernels of seeded_kernels."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).with_name("seeded_kernels"))]
