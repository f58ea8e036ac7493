"""The types that have names of their own. Type checkers read `named_types.pyi` instead.

The package `amdjit` takes every public name of this module.
"""

from amdjit.language.complex_types import complex64 as complex64
from amdjit.language.complex_types import complex128 as complex128
from amdjit.language.vector_types import *  # noqa: F403
from amdjit.types import VOID as _VOID
from amdjit.types import Const as Const
from amdjit.types import bf8 as bf8
from amdjit.types import bf8_fnuz as bf8_fnuz
from amdjit.types import bf16 as bf16
from amdjit.types import boolean as boolean
from amdjit.types import f16 as f16
from amdjit.types import f32 as f32
from amdjit.types import f64 as f64
from amdjit.types import fp8 as fp8
from amdjit.types import fp8_fnuz as fp8_fnuz
from amdjit.types import i8 as i8
from amdjit.types import i16 as i16
from amdjit.types import i32 as i32
from amdjit.types import i64 as i64
from amdjit.types import u8 as u8
from amdjit.types import u16 as u16
from amdjit.types import u32 as u32
from amdjit.types import u64 as u64
from amdjit.types import vector as vector

void = _VOID
