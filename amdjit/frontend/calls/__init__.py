"""Calls: what is called decides which module types the call.

`dispatch` distinguishes types (`constructors`), intrinsics, device functions, functions of Python
and NumPy (`python_functions`, `tuple_functions`), special forms, methods of arrays (`wide_access`)
and functions made inside a kernel (`closures`).
`numbers.results` lets the result of a call adopt the width that it meets. Start at `dispatch.call`.

Imports: `iteration` and the rooms below it.
"""
