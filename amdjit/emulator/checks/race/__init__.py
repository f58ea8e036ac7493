"""The race check: accesses that nothing orders, and lanes of one store that contradict each other.

`instrument` adds a call to each access, fence and barrier. The native functions that are called:
`time` (intervals of waves, and what orders them), `barriers`, `tags`, `accesses` (the tags of an
access), `rivals` (what is reported), and in `native_sources`, which lists all, the order of one
tag, the lanes that are reported and scalar loads.
`layout` is the memory that they share with Python, and `memory` makes it.
"""
