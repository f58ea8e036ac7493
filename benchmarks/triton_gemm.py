"""The products of gemm_loops.py in Triton, compiled for AMD on a machine without a GPU. Nothing
else in amdjit needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TILE = 128
# For each loop, the types of the elements, of their sums and of the results, and the step along k.
TYPES = {
    "f16 128x128x32": ("fp16", tl.float32, "fp16", 32),
    "i8 128x128x64": ("i8", tl.int32, "i32", 64),
}


@triton.jit
def product(a, b, d, n, k, SUM: tl.constexpr, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    """Compute D = A B^T, a tile of SIZE by SIZE per program: the loop without an epilogue."""
    rows = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    columns = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    depth = tl.arange(0, DEPTH)
    a_part = a + rows[:, None] * k + depth[None, :]
    b_part = b + columns[None, :] * k + depth[:, None]
    total = tl.zeros((SIZE, SIZE), dtype=SUM)
    for _ in range(0, k, DEPTH):
        total = tl.dot(tl.load(a_part), tl.load(b_part), total, out_dtype=SUM)
        a_part += DEPTH
        b_part += DEPTH
    tl.store(d + rows[:, None] * n + columns[None, :], total.to(d.dtype.element_ty))


def code_object(name: str, target: str) -> bytes:
    """Return the linked code object of a loop of gemm_loops.py: 4 waves, two stages."""
    element, total, result, depth = TYPES[name]
    signature = {"a": f"*{element}", "b": f"*{element}", "d": f"*{result}", "n": "i32", "k": "i32"}
    constants = {"SUM": total, "SIZE": TILE, "DEPTH": depth}
    multiples = {(place,): [["tt.divisibility", 16]] for place in range(len(signature))}
    source = ASTSource(
        fn=product,
        signature=signature | dict.fromkeys(constants, "constexpr"),
        constexprs=constants,
        attrs=multiples,
    )
    compiled = triton.compile(
        source, target=GPUTarget("hip", target, 32), options={"num_warps": 4, "num_stages": 2}
    )
    return bytes(compiled.asm["hsaco"])
