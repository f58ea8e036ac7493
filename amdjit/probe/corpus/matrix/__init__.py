"""Matrix instructions with data made to reveal how they compute: rounding, the order of sums, the
bits that take part, subnormal numbers, NaN, and where elements lie in a wave.

`rows` are the instructions of a processor; `data` and `integer_data` draw operands, experiments of
several waves, which `operands` turns into registers (`registers`) and into plain sums (`sums`);
`kernels` and `cases` run them. What a chip may compute is a rule of `isa.matrix_rounding`: rows and
dot products say which one the emulator follows, and `identification` names others and finds the one
that fits a chip's results. `dots` has the dot
products of the VALU. Start with `cases`.
"""

from __future__ import annotations

from amdjit.probe.corpus.matrix.cases import batches
from amdjit.probe.corpus.matrix.identification import Finding, findings, identify

__all__ = ["Finding", "batches", "findings", "identify"]
