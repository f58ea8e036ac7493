"""complex64 and complex128: elements of arrays, annotations, and in a kernel conversions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from amdjit.types import Array, Record, RecordField, Scalar, ScalarKind, Structure, Tuple, f32, f64


class ComplexElement(Record):
    """A complex number in memory: its real part, then its imaginary part."""

    __slots__ = ()

    def __getitem__(self, axes: Any) -> Array:
        """Return an array type: `complex64[:]`, with one `:` per axis as in `f32[:]`."""
        named = Scalar(self.title, ScalarKind.FLOAT, 8 * self.nbytes)
        return replace(named[axes], element=self)

    def __call__(self, value: Any = 0) -> Any:
        """On the host: convert to the NumPy scalar of this type. In a kernel: convert."""
        return self.dtype.type(value)

    @property
    def part(self) -> Scalar:
        """The type of the real and the imaginary part."""
        part = self.fields[0].type
        assert isinstance(part, Scalar)
        return part

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of the same layout."""
        return np.dtype(self.title)


def _complex(part: Scalar) -> ComplexElement:
    fields = (RecordField("real", part, 0), RecordField("imag", part, part.nbytes))
    return ComplexElement(fields, 2 * part.nbytes, part.nbytes, f"complex{2 * part.bits}")


complex64 = _complex(f32)
complex128 = _complex(f64)

# The values that a kernel computes with: both parts, in registers.
COMPLEX64 = Tuple((f32, f32), Structure("complex64", ("real", "imag")))
COMPLEX128 = Tuple((f64, f64), Structure("complex128", ("real", "imag")))
