"""What would make a kernel faster, tried before it is said.

`search.py` tells the story: a launch is repeated with one change at a time, which is proposed if
the results stay the same and the model estimates fewer cycles. `calls.py` keeps a launch so that it
can be repeated, `rewriting.py` changes the source of a kernel, and the modules of `variants/` say
what can be changed for which cause.

Imports everything up to `tuning`.
"""
