"""What kernels call under Numba's names, in the kernel language: `lanes` of a warp, `atomic`,
`arithmetic` and `fp16`, the arrays of `memories`, short `vectors`.

They follow amdjit's typing rules, even in kernels that follow Numba's. Of `numba_cuda` they may
import only `types`.
"""
