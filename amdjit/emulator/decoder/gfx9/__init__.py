"""Machine code of gfx9 (CDNA): formats, opcode tables, operands and text that only it has.

Start reading at `formats.py`; `instruction_set.py` of the decoder puts the parts together.
"""
