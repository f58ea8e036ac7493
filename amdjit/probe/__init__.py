"""A conformance run on a GPU: it compares what the chip computes, and how long it takes, with the
emulator.

`case.py` has the vocabulary, `corpus/` what is run, `timing/` what is measured, `machine_code/` the
kernels of single instructions. `running.py` runs the batches in processes of their own, `record.py`
writes and reads the file of results, `comparison.py` judges it, and `fitting.py` makes parameters
of the cycle model from it.
"""
