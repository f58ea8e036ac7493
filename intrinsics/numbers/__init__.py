"""The declarations behind the namespace `arithmetic`, which `maths` is built on.

`integers` has integers and their bits, `floats` the fused multiply-add, `dots` the dot products of a
register's elements. Start with `integers`: its shorter declarations show all the ways to lower. The
modules here know the table of builtins and the reference models, and no public namespace.
"""
