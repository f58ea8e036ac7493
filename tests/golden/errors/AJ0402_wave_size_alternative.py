"""What is refused: a function of waves of 32 lanes that has a counterpart for all."""

import amdjit
from amdjit import f32, u32
from amdjit.intrinsics import wave


@amdjit.kernel(wave_size=64)
def negative(x: f32[:], out: u32[:]):
    out[0] = wave.ballot(x[amdjit.lane_id()] < 0)


def run():
    negative.compile(target="gfx1201")
