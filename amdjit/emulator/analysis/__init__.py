"""Facts about a kernel's machine code that hold before it is translated.

Control flow, which registers are live or all ones where, what MODE holds, which lanes nobody sees.
Imports the decoder and `layout`; nothing here makes code.
"""
