"""Instructions and their text to bytes: the decoder's tables, read the other way.

`choosing` finds the encoding of a mnemonic with its operands, `encode` writes the bits, also those
of a pair of instructions, and reads them back, `operands` names registers and constants.
"""
