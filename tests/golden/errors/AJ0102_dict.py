# fmt: off
# ruff: noqa
"""What is refused: a dict, on a line that is indented by tabs."""

import amdjit
from amdjit import f32


@amdjit.kernel
def table(out: f32[:]):
	if True:
		out[0] = 2.0 * {"n": 3}["n"]


def run():
    table.compile()
