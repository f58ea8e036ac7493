"""The writers of the generated pages, one module for each page or group of pages.

`docs/generate.py` runs them.
"""
