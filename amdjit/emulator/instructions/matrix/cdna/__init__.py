"""Matrix instructions of CDNA (MFMA, SMFMAC): operands in a wave of 64 lanes, and the arithmetic of
each generation.

Start at `products.py`; `emit.py` has the emitters, `native.py` the functions that they call, and
the rules by which sums are rounded stand in `rules.py` and `grid_rules.py`. It shares with the
products of RDNA `loops.py`, the steps of `grid_step.py` and the helpers of `quick_steps.py`.
"""
