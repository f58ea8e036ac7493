"""Let these tests build trees with tests/tree/trees.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tree"))
