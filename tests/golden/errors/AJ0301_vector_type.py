"""What is refused: a vector type without a name of its own."""

import amdjit
from amdjit import f32, u32
from amdjit.intrinsics import amdgcn


@amdjit.kernel
def unpacked(x: u32[:], out: f32[:]):
    packed = u32x6(x[0], x[1], x[2], x[3], x[4], x[5])  # noqa: F821
    out.store(0, amdgcn.cvt_scalef32_pk32_f32_fp6(packed, 1.0))


def run():
    unpacked.compile(target="gfx950")
