"""How fragments move between registers and memory.

`memory` checks an access and moves the elements of one block, `blocks` goes through the blocks of a
wave and stops at edges, `nibbles` turns 4-bit elements that lie across k, by the exchanges
between lanes in `exchanges`. Start with `memory`. The modules here import `operands`, and not
`multiply`.
"""
