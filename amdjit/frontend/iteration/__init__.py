"""What loops and comprehensions iterate over.

`iterables` types the `in ...` of a loop: items that are known when compiling, the `Bounds` of a
range, or a `Sequence` with a length at run time (`sequences`). `comprehensions` unrolls generator
expressions to tuples. The loops themselves are in `statements`. Start at `iterables`.

Imports: `assignment` and the rooms below it.
"""
