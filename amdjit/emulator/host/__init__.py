"""Host code, whatever it is for: building LLVM IR, compiling, linking and caching it.

`builder` and `function` write IR; `jit` turns it into callable code; `native_library` keeps native
functions, which the rooms hand to it as `native_sources.NativeSources`. Imports `layout` only:
nothing here knows AMD instructions.
"""
