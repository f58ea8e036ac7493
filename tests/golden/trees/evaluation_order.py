"""What the typed tree shows: evaluation order."""

import amdjit
from amdjit import atomic, i32


def next_number(counter):
    return atomic.add(counter, 0, 1)


def both(counter):
    return next_number(counter), next_number(counter)


@amdjit.kernel
def evaluation_order(counter: i32[:], out: i32[:]):
    out[0] = counter[0] + next_number(counter) ** 2
    out[next_number(counter)] = counter[0]
    out[1] = counter[0] - both(counter)[1]
    if next_number(counter) < 1 << 40 and counter[0] < next_number(counter) < 9:
        out[2] += next_number(counter)
