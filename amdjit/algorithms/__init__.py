"""Whole-array work: element-wise functions, reductions, scans, sorting, selection, histograms.

Each public function stands in the module that is named after what it does; start reading at
`vectorize.py`. They share `placement.py` (which device and stream), `elements.py` and
`result_types.py` (types), `views.py` and `segments.py` (arrays as few axes), `operations.py` (what
is combined) and `outputs.py` (`out=`). What runs on the device is in `kernels/`, written in the
kernel language and compiled for the user's function as it is for any kernel.

Imports: arrays, kernels (`api`) and below.
"""
