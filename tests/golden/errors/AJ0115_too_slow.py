"""What is refused: a kernel that the front end does not type within the time limit."""

import os
from unittest import mock

import amdjit


def run():
    with mock.patch.dict(os.environ, AMDJIT_COMPILE_TIME_LIMIT="1e-6"):

        @amdjit.kernel
        def long(out):
            total = 0
            for i in amdjit.static_range(100):
                total += i
            out[0] = total

        long.compile(amdjit.i32[:])
