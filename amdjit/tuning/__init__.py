"""Finds out which configuration of a kernel to use (`amdjit.autotune`), and how long a launch takes
(`amdjit.bench`).

Start reading at `autotuned.py`. `search.py` tells the story: space, compilation, pruning, ranking,
checking, measuring. Nothing here knows the emulator: devices that can be measured are measured, and
the cycle model's estimate of a launch comes from `amdjit.profile`.
"""
