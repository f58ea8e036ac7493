# ruff: noqa: F821, F401, F841, PLC0415
"""Errors of helpers are found together, also behind calls whose results or arguments are unknown."""

import amdjit
from amdjit import u64


def rotate(x, n):
    y = x.size
    return (x << n) | (x >> (64 - n))


def absorb(state, lane):
    return rotate(state, 3) ^ state.bits[lane]


def squeeze(state, out):
    rest = state % missing
    out[0] = rest


def pad(state, block):
    import struct

    return state


@amdjit.kernel
def sponge(message: u64[:], out: u64[:]):
    i = amdjit.grid(1)
    state = rotate(message[i], 7)
    state = absorb(state ^ message[0], i)
    padded = pad(state, block=1)
    squeeze(padded, out)
    out[i] = rotate(state, 1) + unknown


def run():
    sponge.compile()
