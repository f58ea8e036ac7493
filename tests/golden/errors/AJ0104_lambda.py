"""What is refused: lambda."""

import amdjit
from amdjit import f32

twice = lambda x: 2.0 * x  # noqa: E731


@amdjit.kernel
def doubles(out: f32[:]):
    out[0] = twice(out[0])


def run():
    doubles.compile()
