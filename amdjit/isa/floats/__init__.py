"""Arithmetic on floats as the ISA defines it, as expressions over an `Arithmetic`.

`rows` and `conversions` have a row for each instruction, as `isa/integer_rows.py` has for those on
integers; start there. `modes` has what MODE and modifiers do to operands and results. The emulator
makes host code of them, `arrays` reads them with NumPy.
"""
