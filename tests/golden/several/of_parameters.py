# ruff: noqa: F821
"""The annotations of all parameters are looked at."""

import amdjit
from amdjit import f32


@amdjit.kernel
def wrong(a: list, b: f32[:], c: "f33", d: int):
    b[0] = 1.0


def run():
    wrong.compile()
