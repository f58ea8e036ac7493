"""What is refused: a cache policy for LDS, which has no cache."""

import amdjit
from amdjit import f32, shared
from amdjit.intrinsics import memory


@amdjit.kernel
def copied(out: f32[:]):
    tile = shared.array(32, f32)
    out[0] = memory.load(tile, 0, "non_temporal")


def run():
    copied.compile(target="gfx1201")
