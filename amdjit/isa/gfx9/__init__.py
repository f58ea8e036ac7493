"""Machine code of gfx9 (CDNA): how its instructions are read and written.

Formats and tables are in the decoder itself, where `instruction_set.py` puts them together.
"""
