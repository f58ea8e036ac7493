"""Buffer instructions, as the namespaces `memory` and `atomic` use them.

`resources` makes and checks a resource, `access` loads, stores and prefetches, also with conversion
on the way. Atomic operations on buffers are `atomics.on_buffers`. Start with `resources`. The
modules here import no other part of the intrinsics than the shared type variables.
"""
