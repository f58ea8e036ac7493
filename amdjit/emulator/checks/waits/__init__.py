"""What is missing between instructions, found in the machine code.

`search` looks for uses of a register before its load is waited for; `wait_states` for instructions
that follow others too soon, by the rows of `hazard_rows`, with what instructions do (`acts`) and
what is remembered on the way (`marks`, `patterns`, `exact_states`). `code_object` puts both
together.

Runs nothing, and imports only `analysis` and below: `find_missing_waits`, inspection, the checks
`sync` and `init` and the race check's expected values use it.
"""
