"""Facts about a kernel's machine code that hold before anything runs.

Control flow, which registers are live or all ones where, what MODE holds, which lanes nobody sees.
Imports the rest of `isa`, and code objects (`kernel_code`).
"""
