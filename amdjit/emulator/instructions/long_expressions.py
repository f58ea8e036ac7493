"""Instructions whose expression is so long that LLVM's time for it counts: kernels call it instead
of repeating it.

Inline, `v_perm_b32` with a selector that is not known takes 5 ms of a translation, a division of
floats 2 ms; a call takes 50 us, and the native function is compiled once
(`native/long_expressions.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amdjit.emulator.host.builder import Value, vector
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.rounding import rounding_of

_HALF_EXTREMES = (
    "med3_num", "min_num", "max_num", "min3_num", "max3_num", "minmax_num", "maxmin_num",
    "minimum", "maximum", "minimum3", "maximum3", "minimummaximum", "maximumminimum",
)  # fmt: skip
_SINGLE_EXTREMES = (
    "med3_num", "minimum", "maximum", "minimum3", "maximum3", "minimummaximum", "maximumminimum",
)  # fmt: skip

# The elements of their results, by mnemonic.
LONG: Mapping[str, str] = {
    "v_perm_b32": "i32",
    "v_sad_u8": "i32",
    "v_sad_hi_u8": "i32",
    "v_msad_u8": "i32",
    "v_fma_f16": "half",
    "v_ldexp_f16": "half",
    "v_ldexp_f64": "double",
    **{f"v_{name}_f16": "half" for name in _HALF_EXTREMES},
    **{f"v_{name}_f32": "float" for name in _SINGLE_EXTREMES},
    **{f"v_{name}_f64": "double" for name in ("minimum", "maximum")},
    **{f"v_cvt_pk_{name}_f32": "i32" for name in ("rtz_f16", "i16", "u16", "norm_i16", "norm_u16")},
    **{f"v_cvt_pk_norm_{name}_f16": "i32" for name in ("i16", "u16")},
    **{f"v_pk_{name}_f16": "i32" for name in ("fma", "min_num", "max_num", "minimum", "maximum")},
    "v_div_fixup_f16": "half",
    "v_div_fixup_f32": "float",
    "v_div_fixup_f64": "double",
    "v_div_fmas_f32": "float",
    "v_div_fmas_f64": "double",
}
# They have another one's expression, with the operands in the same order.
_SAME = {
    "v_pk_fmac_f16": "v_pk_fma_f16",
    **{f"v_{name}_f16": "v_fma_f16" for name in ("fmac", "fmaak", "fmamk")},
}
# The operand that makes the expression short where it is known when translating: the selector of
# bytes.
_SHORT_BY: Mapping[str, int] = {"v_perm_b32": 2}


def long_symbol(mnemonic: str) -> str:
    """Return the name of the native function."""
    return f"aj_long_{mnemonic}"


def call_long(frame: Frame, mnemonic: str, operands: Sequence[Value]) -> Value | None:
    """Return an instruction's result by a call; None if it is to be made inline: it is short, or
    rounds otherwise."""
    mnemonic = _SAME.get(mnemonic, mnemonic)
    element = LONG.get(mnemonic)
    if element is None or rounding_of(frame.builder) is not None:
        return None
    deciding = _SHORT_BY.get(mnemonic)
    if deciding is not None and frame.builder.known(operands[deciding]) is not None:
        return None
    return frame.native(long_symbol(mnemonic), vector(element), list(operands))
