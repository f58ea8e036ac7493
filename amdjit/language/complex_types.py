"""complex64 and complex128: elements of arrays, annotations, and in a kernel conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from amdjit.language.call_signatures import CallSignature
from amdjit.types import Record, RecordField, Scalar, Structure, Tuple, Type, f32, f64


class ComplexElement(Record):
    """A complex number in memory: its real part, then its imaginary part."""

    __slots__ = ()

    def __call__(self, value: Any = 0, *more: Any) -> Any:
        """On the host: convert to the NumPy scalar of this type. In a kernel: convert.

        With types it is the signature of a device function: `complex64(complex64, f32)`.
        """
        if isinstance(value, Type):
            return CallSignature(self, (value, *more))
        return self.dtype.type(value, *more)

    @property
    def part(self) -> Scalar:
        """The type of the real and the imaginary part."""
        part = self.fields[0].type
        assert isinstance(part, Scalar)
        return part

    @property
    def underlying_float(self) -> Scalar:
        """The type of the parts, as Numba calls it."""
        return self.part

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
