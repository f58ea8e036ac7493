"""Write the probe's programs: `python tests/fuzz/write_probe_programs.py`.

They are random programs (`programs.py`), each with a digest of the results that Python computes by
the documented meaning of operators. The same version of the generator writes the same file.
"""

from __future__ import annotations

import base64
import json
import lzma
import sys
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from amdjit.probe.corpus.language import FILE as NAME
from amdjit.probe.corpus.language import TYPES, digest
from tests.fuzz.program_types import PARAMETERS, PYTHON_NUMBERS, SLOTS, UNIFORM
from tests.fuzz.programs import program
from tests.fuzz.running import INPUTS, LANES, as_python

FILE = Path(__file__).parents[2] / "amdjit/probe/corpus/language" / NAME
# Kernels, and their programs: the bytes that each is written from, and how many a kernel has.
SIZES = ((8, 48, 24), (5, 100, 12), (2, 200, 6))


def kernels() -> list[dict[str, Any]]:
    """Return the kernels as the file has them."""
    found = []
    for count, size, programs in SIZES:
        for number in range(count):
            random = Random(f"probe {size} {number}")
            sources = [program(random.randbytes(size)) for _ in range(programs)]
            digests = [digest(as_python(each, k)) for k, each in enumerate(sources)]
            found.append(
                {
                    "sources": sources,
                    "digests": digests,
                    "level": (3, 3, 1, 3, 0, 2)[number % 6],
                    "wave_size": random.choice((32, 32, 64)),
                    "guarded": random.random() < 0.5,
                }
            )
    return found


def content() -> bytes:
    """Return the file's content, not compressed."""
    held = {
        "kernels": kernels(), "lanes": LANES, "slots": SLOTS, "uniform": UNIFORM,
        "numbers": PYTHON_NUMBERS,
        "inputs": [base64.b64encode(each.tobytes()).decode() for each in INPUTS],
    }  # fmt: skip
    assert [str(each) for each in PARAMETERS] == list(TYPES)
    return json.dumps(held, separators=(",", ":")).encode()


if __name__ == "__main__":
    FILE.write_bytes(lzma.compress(content(), preset=9 | lzma.PRESET_EXTREME))
