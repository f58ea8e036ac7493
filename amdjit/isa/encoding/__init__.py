"""Instructions and their text to bytes: the decoder's tables, read the other way.

`choosing` finds the encoding of a mnemonic with its operands, `dual` that of a pair of them,
`encode` writes the bits and reads them back, `operands` names registers and constants.
"""
