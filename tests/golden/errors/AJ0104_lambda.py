"""What is refused: lambda beside another one on its line."""

import amdjit
from amdjit import f32

twice, thrice = lambda x: 2.0 * x, lambda x: 3.0 * x


@amdjit.kernel
def doubles(out: f32[:]):
    out[0] = twice(out[0])


def run():
    doubles.compile()
