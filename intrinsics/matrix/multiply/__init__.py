"""The products: which instruction multiplies what, and what it computes.

`mma` chooses the instruction for fragments and `instructions` declares WMMA and SWMMAC for kernels;
`products`, `certainty` and `orders` describe their results on the host. Start with `mma`. The
modules here import `operands`, and not `transfers`.
"""
