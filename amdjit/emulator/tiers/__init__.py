"""A kernel as host code, in two tiers: quickly made (`quick`), or quick to run (`full`).

`compilation` chooses, and keeps what is made. Both tiers translate the ends of blocks with
`terminators`; `operations` are what kernels of the quick tier share, `program` is what runs them.
Gets the native library as a value. Imports `instructions` and below; nothing here knows launches.
"""
