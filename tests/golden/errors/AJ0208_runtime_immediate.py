"""What is refused: runtime immediate."""

import amdjit
from amdjit import i32
from amdjit.intrinsics import amdgcn


@amdjit.kernel
def wait(n: i32):
    amdgcn.s_sleep(n)


def run():
    wait.compile()
