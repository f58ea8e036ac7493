"""Instructions with expressions so long that LLVM's time for them matters: kernels call them
instead of repeating them.

Inline, `v_perm_b32` with an unknown selector takes 5 ms of a translation, a division of floats 2
ms; a call takes 50 us, and the native function is compiled once (`long_expressions_native.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from amdjit.emulator.host.builder import Value, vector
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.arithmetic import element_type
from amdjit.isa.rows import opcode_named

_HALF_EXTREMES = (
    "med3_num", "min_num", "max_num", "min3_num", "max3_num", "minmax_num", "maxmin_num",
    "minimum", "maximum", "minimum3", "maximum3", "minimummaximum", "maximumminimum",
)  # fmt: skip
_SINGLE_EXTREMES = (
    "med3_num", "minimum", "maximum", "minimum3", "maximum3", "minimummaximum", "maximumminimum",
)  # fmt: skip

LONG: frozenset[str] = frozenset(
    {
        "v_perm_b32",
        "v_sad_u8",
        "v_sad_hi_u8",
        "v_msad_u8",
        "v_fma_f16",
        "v_ldexp_f16",
        "v_ldexp_f64",
        *(f"v_{name}_f16" for name in _HALF_EXTREMES),
        *(f"v_{name}_f32" for name in _SINGLE_EXTREMES),
        *(f"v_{name}_f64" for name in ("minimum", "maximum")),
        *(f"v_cvt_pk_{name}_f32" for name in ("rtz_f16", "i16", "u16", "norm_i16", "norm_u16")),
        *(f"v_cvt_pk_norm_{name}_f16" for name in ("i16", "u16")),
        *(f"v_pk_{name}_f16" for name in ("fma", "min_num", "max_num", "minimum", "maximum")),
        *(f"v_div_fixup_{code}" for code in ("f16", "f32", "f64")),
        *(f"v_div_fmas_{code}" for code in ("f32", "f64")),
    }
)
# Instructions with the expression of another one, with operands in the same order.
_SAME = {
    "v_pk_fmac_f16": "v_pk_fma_f16",
    **{f"v_{name}_f16": "v_fma_f16" for name in ("fmac", "fmaak", "fmamk")},
}
# The operand that makes the expression short if it is known at translation: the selector of bytes.
_SHORT_BY: Mapping[str, int] = {"v_perm_b32": 2}


def long_symbol(mnemonic: str) -> str:
    """Return the name of the native function."""
    return f"aj_long_{mnemonic}"


@cache
def long_result(mnemonic: str) -> str:
    """Return the LLVM type of the native function's result."""
    return vector(element_type(opcode_named(mnemonic).operands[0].type))


# The native functions by mnemonic.
_SYMBOLS: Mapping[str, str] = {mnemonic: long_symbol(mnemonic) for mnemonic in sorted(LONG)}


def call_long(frame: Frame, mnemonic: str, operands: Sequence[Value]) -> Value | None:
    """Return an instruction's result by a call; None if it is to be computed inline, because it is
    short or rounds in another mode."""
    mnemonic = _SAME.get(mnemonic, mnemonic)
    symbol = _SYMBOLS.get(mnemonic)
    if symbol is None or frame.builder.rounding is not None:
        return None
    deciding = _SHORT_BY.get(mnemonic)
    if deciding is not None and frame.builder.known(operands[deciding]) is not None:
        return None
    return frame.native(symbol, long_result(mnemonic), list(operands))
