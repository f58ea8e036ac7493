"""A launch in single steps, forwards and backwards: its time is the number of instructions that
have begun.

`launch` is what others use. It runs code that can stop before each instruction
(`tiers/steps.py`), one wave at a time, in an order that `schedule` chooses and that depends on
nothing else. To go back, it restores the memory of an earlier time (`snapshots`) and goes forward
from there. `writes` tells which instruction wrote some memory.
"""
