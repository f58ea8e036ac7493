"""A change in anything that the code was made from compiles it again, and `why_recompiled` names
the change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import Const, f16, f32, i32
from tests.api.lanes import DEVICE

FACTOR = 2


def helper(x):
    return x * FACTOR


def outer_helper(x):
    return helper(x) + 1


@pytest.fixture
def uses_a_helper() -> Any:
    """Return a kernel that has not been compiled by other tests."""

    @amdjit.kernel
    def uses_a_helper(out, n: Const):
        out[0] = outer_helper(n)

    return uses_a_helper


def run(kernel: Any, *arguments: Any) -> float:
    out = np.zeros(1, np.float32)
    with amdjit.use(DEVICE):
        kernel[1, 1](out, *arguments)
    return float(out[0])


def reasons(kernel: Any) -> list[str]:
    return [str(change) for change in kernel.why_recompiled()]


def test_changes_of_globals_and_helpers_are_noticed(uses_a_helper: Any, monkeypatch: Any) -> None:
    assert run(uses_a_helper, 3) == 7
    assert reasons(uses_a_helper) == []
    assert run(uses_a_helper, 4) == 9
    assert reasons(uses_a_helper) == ["argument `n`: 3 -> 4"]
    monkeypatch.setitem(globals(), "FACTOR", 10)
    assert run(uses_a_helper, 4) == 41
    assert reasons(uses_a_helper) == [f"global `FACTOR` of {__name__}: 2 -> 10"]

    def replacement(x):
        return x - 1

    monkeypatch.setitem(globals(), "helper", replacement)
    assert run(uses_a_helper, 4) == 4
    (reason,) = reasons(uses_a_helper)
    assert reason.startswith(f"global `helper` of {__name__}: `helper` of line ")
    assert "-> `replacement` of line " in reason
    monkeypatch.undo()
    assert run(uses_a_helper, 4) == 9
    assert run(uses_a_helper, 4) == 9
    count = len(uses_a_helper.specialisations)
    assert run(uses_a_helper, 3) == 7
    assert len(uses_a_helper.specialisations) == count


def test_a_changed_code_object_is_noticed(uses_a_helper: Any, monkeypatch: Any) -> None:
    assert run(uses_a_helper, 3) == 7
    monkeypatch.setattr(helper, "__code__", outer_replacement.__code__)
    assert run(uses_a_helper, 3) == 504
    (reason,) = reasons(uses_a_helper)
    assert reason.startswith("the code of `helper`: `helper` of line ")
    monkeypatch.undo()
    assert run(uses_a_helper, 3) == 7


def outer_replacement(x):
    return x + 500


def test_types_and_options_are_named() -> None:
    @amdjit.kernel
    def copy(x, out):
        out[0] = x[0]

    copy.compile(f32[:], f32[:])
    assert copy.why_recompiled() == ()
    copy.compile(f16[:], f32[:])
    (change,) = copy.why_recompiled()
    assert (change.what, change.old, change.new) == ("argument `x`", "f32[::1]", "f16[::1]")
    copy.compile(f16[:], f32[:], fastmath=True)
    (change,) = copy.why_recompiled()
    assert change.what == "option `fastmath`"
    copy.compile(i32[:], i32[:])
    assert [change.what for change in copy.why_recompiled()][:2] == [
        "argument `x`",
        "argument `out`",
    ]


def test_methods_of_numbers_outside_are_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    @amdjit.kernel
    def counts_bits(out):
        for i in amdjit.static_range(FACTOR.bit_length()):
            out[i] = f32(i)

    x = np.zeros(2, np.float32)
    counts_bits[1, 1](x)
    monkeypatch.setattr("amdjit.compiler.compile_kernel", None)
    counts_bits[1, 1](x)
    assert x.tolist() == [0, 1]
