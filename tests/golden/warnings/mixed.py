"""Signed and unsigned numbers of 32 bits, computed in 64 bits."""

import amdjit
from amdjit import i32, u32


@amdjit.kernel
def scramble(x: u32[:], out: u32[:], n: i32):
    i = amdjit.grid(1)
    out[i] = x[i] ^ n


def run():
    scramble.compile()
