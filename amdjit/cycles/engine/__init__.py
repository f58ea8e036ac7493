"""The cycle model as host code: simulates recorded waves of a workgroup processor.

`layout` has the records that Python and the host code share, `library` compiles and keeps the
functions, `memory` is the memory system. Imports `emulator.host`, `emulator.layout`
and nothing of the rest of `cycles`. Start reading at `layout`.
"""
