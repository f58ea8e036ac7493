"""Arithmetic as the ISA defines it, as expressions over host values, both scalars and vectors.

Shared by instructions and native functions. Imports `host` only: nothing here knows registers or
waves.
"""
