"""Every instruction that the emulator executes and a kernel can use, one at a time.

`forms` says in which forms an opcode is tried; `vector`, `scalar` and `memory` make `trials` of
them, which choose the operands and run many instructions in one launch. `batching` says which
opcodes have no trial, and why.
"""

from __future__ import annotations

from amdjit.probe.corpus.instructions.batching import batches

__all__ = ["batches"]
