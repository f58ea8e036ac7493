"""Which configuration of a kernel to use: `amdjit.autotune`, and how long a launch takes:
`amdjit.bench`.

Start reading at `autotuned.py`. `search.py` tells the story: space, compilation, pruning, ranking,
checking, measuring. Nothing here knows the emulator: a device that can be measured is measured, and
what the cycle model says of a launch is `amdjit.profile`'s.
"""
