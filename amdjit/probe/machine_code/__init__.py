"""Kernels written instruction by instruction: encoded with the decoder's own tables, and made a
code object, without an assembler."""
