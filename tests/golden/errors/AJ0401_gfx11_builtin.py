"""What is refused: gfx11 builtin."""

import amdjit
from amdjit import f16x16, f32, f32x8
from amdjit.intrinsics import amdgcn


@amdjit.kernel
def matmul(d: f32[:]):
    a = f16x16(1.0)
    acc = amdgcn.wmma_f32_16x16x16_f16_w32(a, a, f32x8())
    d.store(0, acc)


def run():
    matmul.compile(target="gfx1201")
