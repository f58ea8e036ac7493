"""The memory check: wrong addresses, misaligned LDS, use after free, leaks.

Native code compares every address anyway (`instructions/memory/access_native.py`): here are the
words (`reports`), the alignment of LDS (`instrument`), and what was freed (`quarantine`, a
`MemoryObserver`) or was not (`leaks`).
"""
