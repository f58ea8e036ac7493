"""A model of the instructions that shares nothing with the emulator: Python's integers, NumPy's
floats, fractions.

Written from the RDNA 4 ISA document (section 16, instruction by instruction): one line an opcode.
"""
