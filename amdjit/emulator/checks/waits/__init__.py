"""Missing waits: a search of machine code for uses of a register before its load is waited for.

Runs nothing, and imports only `analysis` and below: `find_missing_waits`, the checks `sync` and
`init` and the race check's expected values use it.
"""
