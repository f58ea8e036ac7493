"""What names mean: reading and binding them, merging them where control flow meets, and parameters.

`scope` looks a name up in Python's order, notes what was read from outside the kernel, and makes
constants of NumPy arrays found there. `merging` gives a name one binding after branches and loops.
`parameters` matches arguments to the parameters of device functions, and `annotations` reads their
types. Start at `scope`.

Imports: `numbers` and the rooms below it.
"""
