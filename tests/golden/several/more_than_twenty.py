# ruff: noqa: F821
"""The text of an error shows the first twenty."""

import amdjit
from amdjit import f32


@amdjit.kernel
def many(a: f32[:]):
    a[unknown_00] = 0
    a[unknown_01] = 0
    a[unknown_02] = 0
    a[unknown_03] = 0
    a[unknown_04] = 0
    a[unknown_05] = 0
    a[unknown_06] = 0
    a[unknown_07] = 0
    a[unknown_08] = 0
    a[unknown_09] = 0
    a[unknown_10] = 0
    a[unknown_11] = 0
    a[unknown_12] = 0
    a[unknown_13] = 0
    a[unknown_14] = 0
    a[unknown_15] = 0
    a[unknown_16] = 0
    a[unknown_17] = 0
    a[unknown_18] = 0
    a[unknown_19] = 0
    a[unknown_20] = 0
    a[unknown_21] = 0


def run():
    many.compile()
