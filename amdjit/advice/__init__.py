"""What is slow by accident in a compiled kernel, found in its tree, its IR and its metadata.

It reads the results of compilations and changes nothing. Start reading at `performance`.
"""
