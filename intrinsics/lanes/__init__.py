"""Declarations for the namespace `wave`: exchanges and combinations between lanes.

`dpp` has exchanges whose pattern is part of the instruction, of words and of wider types, `reduce`
reductions and scans, whose IR `combinations` builds. Start with `dpp`. The modules here import the
table of builtins and the type variables, and no public namespace.
"""
