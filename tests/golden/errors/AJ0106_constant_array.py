"""What is refused: a store to an array whose content is part of the code."""

import numpy as np

import amdjit
from amdjit import f32

TABLE = np.zeros(4, np.float32)


def note(table, value):
    table[0] = value


@amdjit.kernel
def fill(a: f32[:]):
    note(TABLE, a[0])


def run():
    fill.compile()
