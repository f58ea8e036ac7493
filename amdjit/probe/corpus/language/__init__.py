"""Random programs of the kernel language. Python has computed their results, so a chip's results
are compared with Python's as well as with the emulator's.

`programs.json.xz` holds the source of the programs, their inputs and digests of the expected
results; `python tests/fuzz/write_probe_programs.py` writes it. `batches` reads it and makes cases.
"""

from __future__ import annotations

from amdjit.probe.corpus.language.batches import batches

__all__ = ["batches"]
