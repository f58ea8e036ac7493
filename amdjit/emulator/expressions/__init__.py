"""Arithmetic on floats as the ISA defines it, as expressions over host values, scalars and vectors
alike; that on integers is in `isa/integer_expressions.py`.

Shared by instructions and native functions. Imports `host` only: nothing here knows registers or
waves.
"""
