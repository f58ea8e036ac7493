"""A lock that lanes of one wave take from each other."""

import amdjit
from amdjit import atomic, i32


@amdjit.kernel
def count(lock: i32[:], total: i32[:]):
    while atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    atomic.exch(lock, 0, 0)


def run():
    count.compile()
