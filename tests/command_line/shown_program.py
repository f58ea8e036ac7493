"""A program for the tests of `amdjit explore --run`."""

import sys

import numpy as np

import amdjit


@amdjit.kernel
def doubled(x):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] = 2 * x[i]


@amdjit.kernel
def other(x):
    x[0] = 1


def main(arguments: list[str]) -> None:
    x = np.arange(100, dtype=np.float32)
    for _ in range(int(arguments[0]) if arguments else 1):
        doubled[4, 32](x)
    other[1, 1](x)
    print("ran with", arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
    if "fail" in sys.argv:
        sys.exit(3)
