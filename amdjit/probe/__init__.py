"""A conformance run on a GPU: what the chip computes and how long it takes, against the emulator.

`case.py` has the vocabulary, `corpus/` what is run, `timing/` what is measured, `machine_code/` the
kernels of single instructions. `running.py` runs batches in processes of their own, `record.py` is
the file, `comparison.py` reads it, `fitting.py` makes parameters of the cycle model from it.
"""
