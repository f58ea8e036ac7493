"""What compiled kernels and those who run them agree on: data without code for either side.

`launch_shape` is the size of a launch, `kernarg` the order of a kernel's arguments in memory,
`reports` the record through which kernels tell the host of assertions and printed lines,
`buffer_formats` the formats that buffer instructions convert, `code_marks` the marks of atomic
accesses, fences and wrong indices of local arrays. Lowering, the backend, the emulator, the devices
and launches import it; it may import types and targets.
"""
