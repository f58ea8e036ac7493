# ruff: noqa: F821, N805
"""Carets stand below what they mean: decorators over several lines, indentation, letters of two columns."""

import amdjit
from amdjit import f32, i32


class Kernels:
    class Inner:
        @amdjit.kernel(
            fastmath=True,
            block=64,
        )
        def 核(配列: f32[:], größe: i32):
            i = amdjit.grid(1)
            if i < größe and 配列[i] & größe:  # 説明
                名前 = "説明" + größe
                配列[i] = 名前
            配列[i] = 配列[i] + (
                größe.wert)  # fmt: skip
            print(f"値 {配列[i] & 1:>5}, é {unbekannt}")


def run():
    Kernels.Inner.核.compile()
