"""Matrix instructions with data made to reveal how they compute: rounding, the order of sums, the
bits that take part, subnormal numbers, NaN, and where elements lie in a wave.

`rows` lists the instructions of a processor. `data` draws the operands of experiments, each of
several waves; `operands` turns them into registers (`registers`) and into plain sums (`results`);
`cases` runs them. A rule of `isa.matrix_rounding` says how a chip computes: rows and dot products
name the one that the emulator follows, and `identification` tries others to find the one that fits
a chip's results. `dots` has the dot products of the VALU. Start with `cases`.
"""

from __future__ import annotations

from amdjit.probe.corpus.matrix.cases import batches
from amdjit.probe.corpus.matrix.identification import Finding, findings, identify

__all__ = ["Finding", "batches", "findings", "identify"]
