# fmt: off
# ruff: noqa
"""What is refused: walrus."""

import amdjit
from amdjit import f32


@amdjit.kernel
def walrus(out: f32[:]):
	if True:
		out[0] = 2.0 * (n := out[1])


def run():
    walrus.compile()
