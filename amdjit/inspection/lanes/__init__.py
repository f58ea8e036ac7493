"""What the lanes of a wave have in common: an abstract interpretation of machine code.

A register's value in lane i is B + steps[i]: B is one number for the wave, of which low bits may be
known, and the steps are known for each lane (`values`). Which lanes hold such a value depends on
EXEC (`sets`). `transfer` follows both through each instruction, `inspection.accesses` through a
kernel, from what a launch puts into v0 (`state.entry_state`).
"""
