"""The memory orders and scopes that atomic operations and fences take.

Source: LLVM AMDGPU guide, "Memory Scopes"; LLVM language reference, "Atomic Memory Ordering
Constraints".
"""

from __future__ import annotations

from typing import Annotated

from amdjit.types import Choice

# LLVM's names of the public scopes: AMDGPU guide, "Memory Scopes".
SYNC_SCOPES = {"system": "", "agent": "agent", "workgroup": "workgroup", "wavefront": "wavefront"}


ORDERINGS = {
    "relaxed": "monotonic",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "seq_cst": "seq_cst",
}


Scope = Annotated[str, Choice(*SYNC_SCOPES)]


Order = Annotated[str, Choice(*ORDERINGS)]


# A read publishes nothing and a write acquires nothing: LLVM language reference, "load" and
# "store".
LoadOrder = Annotated[
    str, Choice(*(name for name in ORDERINGS if name not in ("release", "acq_rel")))
]


StoreOrder = Annotated[
    str, Choice(*(name for name in ORDERINGS if name not in ("acquire", "acq_rel")))
]
