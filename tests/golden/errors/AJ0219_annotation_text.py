# ruff: noqa: F722
"""What is refused: annotation text."""

import amdjit


@amdjit.kernel
def scale(a: "amdjit.f32[:]", factor: "a number"):
    a[0] *= factor


def run():
    scale.compile(amdjit.f32[:], amdjit.f32)
