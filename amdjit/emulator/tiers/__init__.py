"""A kernel as host code, in two tiers: quickly made (`quick`), or quick to run (`full`).

`compilation` chooses, and keeps what is made; `operations` are what kernels of the quick tier
share. Gets the native library as a value. Imports `instructions` and below; nothing here knows
launches.
"""
