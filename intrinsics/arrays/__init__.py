"""What NumPy's functions of whole arrays become in a kernel, written in the kernel language.

`reductions` has sums, products, extremes, means and tests of all elements. Each lane that executes
the call computes it on its own, in a loop over the elements.
"""
