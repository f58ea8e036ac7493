"""Globals and closures are constants of a kernel, and a changed one compiles it again."""

from __future__ import annotations

import math

import numpy as np
import pytest

import amdjit
from amdjit import f16, i32
from tests.api.functions_and_settings import OFFSETS, SCALE, Settings, clamp, increment


@pytest.mark.usefixtures("emulator")
class TestOutsideNames:
    """Globals and closures are constants, and a launch after a change sees the change."""

    def launched(self, kernel) -> float:
        out = np.zeros(1, np.float32)
        kernel[1, 1](out)
        return float(out[0])

    def test_a_changed_global_compiles_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        @amdjit.kernel
        def reads(out):
            out[0] = SCALE

        assert self.launched(reads) == 3
        for value in (5, 0.0, True, 1.0, np.float32(2.5)):
            monkeypatch.setitem(globals(), "SCALE", value)
            assert self.launched(reads) == value
        monkeypatch.setitem(globals(), "SCALE", -0.0)
        assert math.copysign(1, self.launched(reads)) == -1
        monkeypatch.setitem(globals(), "SCALE", 0.0)
        assert math.copysign(1, self.launched(reads)) == 1

    def test_a_changed_closure_compiles_again(self) -> None:
        factor = 2

        @amdjit.kernel
        def reads(out):
            out[0] = factor

        assert self.launched(reads) == 2
        factor = 3
        assert self.launched(reads) == 3

    def test_a_changed_helper_compiles_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        @amdjit.kernel
        def calls(out):
            out[0] = increment(out[0])

        assert self.launched(calls) == 1
        monkeypatch.setitem(globals(), "increment", clamp)
        assert self.launched(calls) == 0

    def test_a_global_of_a_helper_counts_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def scaled():
            return SCALE + OFFSETS[0]

        @amdjit.kernel
        def calls(out):
            out[0] = scaled()

        assert self.launched(calls) == 4
        monkeypatch.setitem(globals(), "SCALE", 10)
        assert self.launched(calls) == 11
        monkeypatch.setitem(globals(), "OFFSETS", (2, 3))
        assert self.launched(calls) == 12

    def test_a_changed_attribute_compiles_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        @amdjit.kernel
        def reads(out):
            out[0] = Settings.width

        assert self.launched(reads) == 4
        monkeypatch.setattr(Settings, "width", 8)
        assert self.launched(reads) == 8

    def test_nothing_is_compiled_twice_without_a_change(self) -> None:
        @amdjit.kernel
        def reads(out):
            out[0] = SCALE + Settings.width + OFFSETS[2] + math.pi

        self.launched(reads)
        before = reads.inspect_llvm()
        self.launched(reads)
        after = reads.inspect_llvm()
        assert before.keys() == after.keys()
        assert all(after[key] is before[key] for key in before)

    def test_constant_parameters_of_equal_value_and_other_type_are_told_apart(self) -> None:
        @amdjit.kernel
        def halves(out, n: amdjit.Const):
            out[0] = n
            out[1] = i32(7) // 2 * n if isinstance(n, int) else 0.5

        for n, second in ((1, 3), (1.0, 0.5), (True, 3), (1, 3), (-0.0, 0.5), (0.0, 0.5)):
            out = np.zeros(2, np.float32)
            halves[1, 1](out, n)
            assert out[0] == n
            assert math.copysign(1, out[0]) == math.copysign(1, n)
            assert out[1] == second

    def test_constant_parameters_choose_types_shapes_and_functions(self) -> None:
        @amdjit.kernel
        def chosen(
            out,
            dtype: amdjit.Const,
            shape: amdjit.Const,
            function: amdjit.Const,
            nothing: amdjit.Const,
        ):
            tile = amdjit.shared.array(shape, dtype)
            tile[0, 1] = dtype(out[0])
            out[1] = function(tile[0, 1]) if nothing is None else tile[0, 0]
            out[2] = len(shape) + shape[1]

        out = np.array([300.7, 0, 0], np.float32)
        chosen[1, 1](out, f16, (2, 3), increment, None)
        assert out[1] == np.float32(np.float16(300.7) + np.float16(1))
        assert out[2] == 5
