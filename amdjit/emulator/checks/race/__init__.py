"""The race check: accesses that nothing orders, and lanes of one store that contradict each other.

`instrument` adds a call of native code to each access, fence and barrier. The native functions are
in `time` (intervals of waves, and what orders them), `barriers`, `tags`, `accesses` (the tags of an
access), `conflicting_accesses` (which accesses conflict, and the report), `in_flight_accesses`
(accesses that are not complete at a barrier), and `native_sources`, which lists them all and
compares one tag with the clocks. `remedies` reads from code what a race needs. `layout` declares
the memory that they share with Python, and `memory` allocates it.
"""
