"""What kernels call under Numba's names, in the kernel language: `lanes` of a warp, `atomic`,
`arithmetic` and `fp16`, the arrays of `memories`, short `vectors`.

They are typed by amdjit's rules, whatever the kernel's are, and may import no other module of
`numba_cuda` but `types`.
"""
