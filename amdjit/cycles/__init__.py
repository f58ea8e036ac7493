"""A model of one workgroup processor: how many cycles recorded waves take, and what they wait for.

`parameters` is the table of what is known about the hardware, each row with its source;
`estimate` has the results. The room imports `isa`, the emulator's builder of host code and
the recordings of `emulator.counting`. Start reading at `estimate`.
"""
