"""A kernel as host code, in two tiers: quick to compile (`quick`), or quick to run (`full`).

`compilation` chooses, and caches the code. Both tiers translate the ends of blocks with
`terminators`; kernels of the quick tier share `operations`, which their `program` calls, and which
`operation_library` keeps as host code. Modules that translate are loaded when code is missing in
the cache. The native library is passed in as a value. Imports `instructions` and below; nothing
here knows launches.
"""
