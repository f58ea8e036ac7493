"""Arrays in a device's memory, as users see them: creation, views, fills, copies, memory pools.

Imports: kernels (`api`) and below. `runtime/arrays.py` holds what a launch needs of an array.
"""
