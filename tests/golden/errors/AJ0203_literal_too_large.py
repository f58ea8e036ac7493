"""What is refused: literal too large."""

import amdjit
from amdjit import i8


@amdjit.kernel
def add(a: i8[:]):
    a[0] = a[0] + 200


def run():
    add.compile()
