"""Matrix instructions of CDNA (MFMA, SMFMAC): operands in a wave of 64 lanes, and the arithmetic of
each generation.

Start at `products.py`; `emit.py` has the emitters, `native.py` the functions that they call, and
the rules by which sums are rounded stand in `plain_rules.py`, `exact_rule.py`, `grid_rules.py` and
`grid_quick.py`. Of the products of RDNA it imports `loops.py`, and of their steps the helpers of
`grid_step.py` and `quick_steps.py`.
"""
