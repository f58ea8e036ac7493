"""Host code for any purpose: building LLVM IR, compiling, linking and caching it.

`blocks` has the structures of a function (`if_`, `loop`, `section`), `builder` its arithmetic,
memory and calls; `function` is one native function, `declaration` its signature for callers, and
`record` accesses the shared memory of `layout`. `jit` turns IR into callable code; `native_library`
compiles and caches native functions, which the rooms list as `native_sources.NativeSources`.
Imports `layout` only: nothing here knows AMD instructions.
"""
