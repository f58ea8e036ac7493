"""Host code, whatever it is for: building LLVM IR, compiling, linking and caching it.

`blocks` has the structures of a function (`if_`, `loop`, `section`), `builder` its arithmetic,
memory and calls; `function` is one native function, `declaration` what its callers know of it, and
`record` the shared memory of `layout`. `jit` turns IR into callable code; `native_library` keeps
native functions, which the rooms hand to it as `native_sources.NativeSources`. Imports `layout`
only: nothing here knows AMD instructions.
"""
