"""The check for undefined values, which are reported where they matter: in an address, a branch, a
store, an atomic.

`instrument` gives every register a shadow, and `rules` say how each kind of instruction passes it
on. Native functions keep the shadows of memory (`memory_shadow`, `lane_shadow`), and
`written_memory` is the `MemoryObserver` that knows what the host has written. `value_origins` and
`reports` find where a value came from.
"""
