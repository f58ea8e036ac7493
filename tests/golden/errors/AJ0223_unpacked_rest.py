"""What is refused: the rest of a row whose length is known at run time only."""

import amdjit
from amdjit import f32


@amdjit.kernel
def rest(a: f32[:, :], out: f32[:]):
    first, *_others = a[0, :]
    out[0] = first


def run():
    rest.compile()
