"""What compiled kernels and those who run them agree on: data without code for either side.

`kernarg` is the order of a kernel's arguments in memory, `reports` the record through which kernels
tell the host of assertions and printed lines, `buffer_formats` the formats that buffer instructions
convert, `atomic_marks` the marks of atomic accesses and fences, `local_indices` how wrong indices
of local arrays are told. Lowering, the backend, launches and the emulator import it; it may import
types.
"""
