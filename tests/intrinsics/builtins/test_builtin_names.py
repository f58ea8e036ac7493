"""Every name in `amdgcn` is clang's builtin of that name, and no other that begins as it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.intrinsics import amdgcn
from amdjit.intrinsics.builtins.table import python_name, rows


def test_each_name_is_the_builtin_of_that_name() -> None:
    assert [name for name in rows() if getattr(amdgcn, python_name(name)).name != name] == []


@amdjit.kernel
def classes(x, out, test: amdjit.Const):
    i = amdjit.threadIdx.x
    for bit in range(10):
        out[bit, i] = 1 if test(x[i], 1 << bit) else 0


@pytest.mark.parametrize(
    ("test", "dtype"),
    [(amdgcn.classh, np.float16), (amdgcn.classf, np.float32), (amdgcn.class_, np.float64)],
)
def test_denormals_have_a_class_of_their_own(test: Any, dtype: Any) -> None:
    small = np.finfo(dtype).smallest_subnormal
    # The bits of V_CMP_CLASS from bit 2 on: -Inf, -normal, -denormal, -0, +0, +denormal, +normal,
    # +Inf.
    x = np.array([-np.inf, -1, -small, -0.0, 0.0, small, 1, np.inf], dtype)
    out = np.zeros((10, 8), np.int32)
    classes[1, 8](x, out, test)
    np.testing.assert_array_equal(out, np.eye(10, 8, -2))
