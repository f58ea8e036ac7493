"""What `import amdjit` and `from amdjit import *` offer to programs."""

from __future__ import annotations

import amdjit
from amdjit.language import vector_types
from amdjit.types import SCALARS, Vector, bf8_fnuz, boolean, fp8_fnuz


def test_every_named_vector_is_public() -> None:
    named = {name for name, value in vars(vector_types).items() if isinstance(value, Vector)}
    assert len(named) == 6 * len(set(SCALARS) - {boolean, fp8_fnuz, bf8_fnuz})
    assert all(str(getattr(amdjit, name)) == name for name in named)
    assert named <= set(amdjit.__all__)


def test_names_that_are_listed_exist() -> None:
    assert all(hasattr(amdjit, name) for name in amdjit.__all__)


def test_public_modules_are_attributes_and_do_not_hide_pythons_own() -> None:
    assert amdjit.types.from_dtype(amdjit.f32.dtype) is amdjit.f32
    assert amdjit.declarations.Emit is amdjit.Emit
    assert "types" not in amdjit.__all__
