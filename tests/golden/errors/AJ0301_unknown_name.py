# ruff: noqa: F821
"""What is refused: unknown name."""

import amdjit
from amdjit import f32


@amdjit.kernel
def typo(a: f32[:]):
    i = amdjit.grid(1)
    größe = a.shape[0]
    if i < größe and i < groesse:
        a[i] = 0.0


def run():
    typo.compile()
