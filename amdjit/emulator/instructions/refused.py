"""Why instructions of the opcode tables are not executed. An instruction that has neither an
emitter nor a reason is a gap, and fails a test."""

from __future__ import annotations

from collections.abc import Mapping

_PIXELS = "it interpolates inputs of pixel shaders: graphics"
_INTERPOLATED = ("_f32", "_f16_f32", "_rtz_f16_f32")
_HANDLER = "it is for trap handlers and debuggers"

REFUSED: Mapping[str, str] = {
    **dict.fromkeys(
        (f"v_interp_{part}{to}" for part in ("p10", "p2") for to in _INTERPOLATED), _PIXELS
    ),
    "ds_param_load": _PIXELS,
    "ds_direct_load": _PIXELS,
    "global_atomic_ordered_add_b64": "its order is that of the graphics pipeline's waves",
    "s_alloc_vgpr": "kernels with dynamic registers are not emulated",
    "s_rfe_b64": _HANDLER,
    "s_sethalt": _HANDLER,
    "s_setkill": _HANDLER,
    "s_sendmsghalt": _HANDLER,
}


def refusal(mnemonic: str) -> str | None:
    """Return why an instruction is refused, None if it is not listed."""
    return REFUSED.get(mnemonic)
