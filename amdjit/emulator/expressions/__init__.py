"""Arithmetic as the ISA defines it, as expressions over host values, scalars and vectors alike.

Shared by instructions and native functions. Imports `host` only: nothing here knows registers or
waves.
"""
