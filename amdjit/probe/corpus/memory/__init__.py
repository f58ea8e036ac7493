"""Memory: atomic operations, LDS, what has to be waited for, order between waves and workgroups,
scratch, the bounds of buffers, cache hints. All results are the same in every order in which waves
may run.

`batches` puts the cases of the other modules together.
"""

from __future__ import annotations

from amdjit.probe.corpus.memory.batches import batches

__all__ = ["batches"]
