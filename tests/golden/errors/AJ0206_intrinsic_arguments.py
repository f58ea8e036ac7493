"""What is refused: intrinsic arguments."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import amdgcn


@amdjit.kernel
def middle(a: f32[:]):
    a[0] = amdgcn.fmed3f(a[0], a[1])


def run():
    middle.compile()
