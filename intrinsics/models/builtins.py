"""Reference models of the builtins that only the table declares: matrix products, dot products, and
what CDNA 4 has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from amdjit.intrinsics.models.dots import BF16, F16, F32, clamped_unit, dot_of_bits
from amdjit.late import late

if TYPE_CHECKING:
    from amdjit.intrinsics.models import cdna4_builtins, matrix_arithmetic, mfma_arithmetic
else:
    # Loaded when a model is first called: `import amdjit` must be fast.
    cdna4_builtins = late("amdjit.intrinsics.models.cdna4_builtins")
    matrix_arithmetic = late("amdjit.intrinsics.models.matrix_arithmetic")
    mfma_arithmetic = late("amdjit.intrinsics.models.mfma_arithmetic")


def model_of(name: str) -> Callable[..., Any]:
    """Return the function that computes a builtin on the host; it returns None where there is no
    model."""

    # Always a function of this module, because lowering tells amdjit's own declarations from users'
    # by it.
    def reference(*arguments: Any) -> Any:
        if name in _DOTS:
            return _DOTS[name](*arguments)
        if name.startswith(("wmma_", "swmmac_")):
            return matrix_arithmetic.wave_product(name, *arguments)
        if name.startswith(("mfma_", "smfmac_")):
            return mfma_arithmetic.builtin_product(name, *arguments)
        return cdna4_builtins.cdna4_result(name, *arguments)

    return reference


def _dot2_f32_bf16(a: Any, b: Any, c: Any, clamp: bool) -> Any:
    return clamped_unit(dot_of_bits(a, b, c, (BF16, BF16), F32), clamp)


_DOTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "fdot2_f16_f16": partial(dot_of_bits, factors=(F16, F16), result=F16),
        "fdot2_bf16_bf16": partial(dot_of_bits, factors=(BF16, BF16), result=BF16),
        "fdot2_f32_bf16": _dot2_f32_bf16,
    }
)
