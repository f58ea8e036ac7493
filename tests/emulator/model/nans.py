"""Which NaN an instruction returns: the first one of its sources, made quiet, or the negative one
without a payload."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tests.emulator.model.ieee import FORMATS, Format, first_nan, fused_special
from tests.emulator.model.operation import Op
from tests.emulator.model.values import Numbers, patterns

_CODES = {np.dtype(np.float16): "f16", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}
# Operands' patterns to the NaN's pattern, in one format.
Rule = Callable[[Format, tuple[int, ...]], int]


def _fused(form: Format, operands: tuple[int, ...]) -> int:
    special = fused_special(form, *operands)
    return form.invalid if special is None else special


def _legacy(form: Format, operands: tuple[int, ...]) -> int:
    """A factor of 0 makes the product 0, whatever the other one is."""
    if 0 in map(form.size, operands[:2]):
        return form.quieted(operands[2])
    return first_nan(form, operands)


def _first(form: Format, operands: tuple[int, ...]) -> int:
    return first_nan(form, operands)


_RULES: Mapping[str, Rule] = {
    r"[vs]_(fma|fmac|fmaak|fmamk)_f\d+": _fused,
    r"v_pk_(fma|fmac)_f16": _fused,
    r"v_fma_dx9_zero_f32": _legacy,
    r"[vs]_(add|sub|subrev|mul|min_num|max_num|trunc|ceil|floor|rndne)_f\d+": _first,
    r"v_pk_(add|mul|min_num|max_num)_f16": _first,
    r"v_(s_)?(rcp|rsq|sqrt|exp|log|sin|cos|fract|ldexp|frexp_mant)_f\d+": _first,
    r"v_(mul_dx9_zero|rcp_iflag|cubema)_f\d+": _first,
    r"v_div_fixup_f\d+": lambda form, operands: first_nan(form, (operands[2], operands[1])),
}
_CONVERSION = re.compile(r"[vs]_cvt_(f\d+)_(f\d+)")


def converted(source: Format, target: Format, bits: int) -> int:
    """A NaN in another format: the leading bits of its fraction stay."""
    payload = source.quieted(bits) & (1 << source.mantissa) - 1
    moved = payload << target.mantissa >> source.mantissa
    return (target.sign if bits & source.sign else 0) | target.infinity | moved


def _with(name: str, entry: Op, rule: Rule) -> Op:
    form = FORMATS[entry.result]

    def compute(*operands: Numbers) -> Numbers:
        values = np.array(entry.compute(*operands))
        columns = [patterns(o, _CODES[o.dtype]) for o in operands if o.dtype in _CODES]
        found = patterns(values, entry.result)
        for lane in np.flatnonzero(np.isnan(values)):
            found[lane] = rule(form, tuple(int(column[lane]) for column in columns))
        return found.astype(f"u{form.width // 8}").view(values.dtype)

    return replace(entry, compute=compute, nans=True)


def with_nans(table: Mapping[str, Op]) -> dict[str, Op]:
    """Return the opcodes with the NaNs that they are known to return."""
    found = dict(table)
    for name, entry in table.items():
        conversion = _CONVERSION.fullmatch(name)
        rule = next(
            (rule for pattern, rule in reversed(_RULES.items()) if re.fullmatch(pattern, name)),
            None,
        )
        if conversion is not None:
            source = FORMATS[conversion[2]]
            rule = lambda form, bits, source=source: converted(source, form, bits[0])  # noqa: E731
        if rule is not None:
            found[name] = _with(name, entry, rule)
    return found
