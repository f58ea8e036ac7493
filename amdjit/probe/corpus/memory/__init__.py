"""Memory: atomic operations, LDS, the order between waves and workgroups, scratch, bounds of
buffers, cache hints, and everything that a kernel has to wait for. No result depends on the order
in which waves run.

`batches` puts the cases of the other modules together.
"""

from __future__ import annotations

from amdjit.probe.corpus.memory.batches import batches

__all__ = ["batches"]
