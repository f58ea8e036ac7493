"""What would make a kernel faster, tried before it is said.

`search.py` tells the story: a launch is repeated with the kernel changed in one place at a time, and
a change is proposed if the results are the same and the estimated cycles fewer. `calls.py` keeps a
launch so that it can be repeated, `rewriting.py` changes the source of a kernel, and the modules of
`variants/` say what can be changed for which cause.

Imports everything up to `tuning`.
"""
