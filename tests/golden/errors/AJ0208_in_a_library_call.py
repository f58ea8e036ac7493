"""The place of an error in a call of amdjit's library is the call."""

import amdjit
from amdjit import f32
from amdjit.intrinsics import wave


@amdjit.device_function
def mean(value):
    return wave.reduce(value, "average")


@amdjit.kernel
def kernel(x: f32[:]):
    x[0] = mean(x[0])


def run():
    kernel.compile()
