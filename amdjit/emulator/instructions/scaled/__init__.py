"""Conversions between wide floats and scaled ones of 8, 6 and 4 bits (gfx950). Start reading at
`conversions.py`; the arithmetic is in `isa/floats/scaled.py`."""
