"""What is refused: immediate range."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import amdgcn


@amdjit.kernel
def wait(a: f32[:]):
    amdgcn.s_sleep(1 << 20)


def run():
    wait.compile()
