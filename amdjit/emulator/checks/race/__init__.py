"""The race check: accesses that nothing orders, and lanes of one store that contradict each other.

`instrument` adds a call to each access, fence and barrier. The native functions that are called:
`time` (intervals of waves, and what orders them), `barriers`, `order` (one tag), `tags`, `ranges`,
`accesses` (the tags of an access), `rivals` and `lanes` (what is reported), `scalar_loads`.
`layout` is the memory that they share with Python, and `memory` makes it.
"""
