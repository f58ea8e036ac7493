"""What is refused: the other half of a wave that has none."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import wave


@amdjit.kernel
def swapped(x: f32[:]):
    i = amdjit.lane_id()
    x[i] = wave.permlane64(x[i])


def run():
    swapped.compile(target="gfx1201")
