"""Declarations for the namespace `wave`: exchanges and combinations between lanes.

`dpp` has exchanges whose pattern is part of the instruction, `reduce` reductions and scans, whose
IR `combinations` builds, and `words` applies an operation on 32-bit words to wider types. Start
with `dpp`. The modules here import the table of builtins and the type variables, and no public
namespace.
"""
