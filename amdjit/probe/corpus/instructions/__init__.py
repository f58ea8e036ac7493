"""Every instruction that the emulator executes and a kernel can reach, one at a time.

`forms` says in which forms an opcode is tried and `values` on which operands; `vector`, `dual`,
`scalar`, `memory` and `scalar_memory` make `trials` of them, which run many in one launch.
`coverage` says which opcodes have none, and why.
"""

from __future__ import annotations

from amdjit.probe.corpus.instructions.batching import batches

__all__ = ["batches"]
