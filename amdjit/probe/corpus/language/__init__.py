"""Random programs of the kernel language, whose results Python has computed: a chip's results are
judged against Python's and against the emulator's.

`programs.json.xz` holds the programs' source, their inputs and digests of the expected results;
`python tests/fuzz/write_probe_programs.py` writes it. `batches` reads it and makes cases.
"""

from __future__ import annotations

from amdjit.probe.corpus.language.batches import batches

__all__ = ["batches"]
