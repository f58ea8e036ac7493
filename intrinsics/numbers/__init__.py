"""Declarations for the namespace `arithmetic`, which `maths` is built on.

`integers` has operations on integers and their bits, `floats` the fused multiply-add and the
median, `dots` the dot products of a register's elements. Start with `integers`: its declarations
are short and show how one is written. The modules here import the table of builtins and the
reference models, and no public namespace.
"""
