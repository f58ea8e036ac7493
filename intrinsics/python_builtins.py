"""What Python's own functions are in a kernel: `math.sqrt(x)` is `amdjit.intrinsics.math.sqrt(x)`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from amdjit.declarations import DeviceFunction, Intrinsic
from amdjit.intrinsics import arithmetic, complex_functions, power
from amdjit.intrinsics import math as real

# By name, because Python 3.10 lacks math.exp2 and 3.12 lacks math.fma.
_BY_NAME: dict[str, Intrinsic | DeviceFunction] = {
    "sqrt": real.sqrt,
    "exp": real.exp,
    "exp2": real.exp2,
    "log2": real.log2,
    "log10": real.log10,
    "log": real.log,
    "fabs": real.fabs,
    "copysign": real.copysign,
    "ldexp": real.ldexp,
    "isnan": real.isnan,
    "isinf": real.isinf,
    "isfinite": real.isfinite,
    "floor": real.floor_to_int,
    "ceil": real.ceil_to_int,
    "trunc": real.trunc_to_int,
    "pow": power.power,
    "radians": real.radians,
    "degrees": real.degrees,
    "fma": arithmetic.fma,
}

_OTHERS: dict[Callable[..., Any], Intrinsic | DeviceFunction] = {
    round: real.round_to_int,
    complex.__truediv__: DeviceFunction(complex_functions.divide),
    complex.__abs__: DeviceFunction(complex_functions.magnitude),
}

PYTHON_FUNCTIONS: Mapping[Callable[..., Any], Intrinsic | DeviceFunction] = MappingProxyType(
    _OTHERS | {getattr(math, name): ours for name, ours in _BY_NAME.items() if hasattr(math, name)}
)
"""The functions of Python's `math` that kernels may call, and others of Python, with what they become."""
