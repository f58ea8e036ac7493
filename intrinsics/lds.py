"""Arrays that live on the compute unit: `shared` in LDS, one per workgroup; `local`, one per
work-item; and those whose content is part of the code, `const`."""

from __future__ import annotations

from dataclasses import fields

from amdjit.declarations import Form, SpecialForm
from amdjit.language.documentation import documented
from amdjit.late_methods import dataclass


def _namespace_text(namespace: Shared | Local | Constants) -> str:
    members = (getattr(namespace, each.name) for each in fields(namespace))
    return "\n\n".join([type(namespace).__doc__ or "", *(str(each.__doc__) for each in members)])


@documented(_namespace_text)
@dataclass(frozen=True, slots=True)
class Shared:
    """The namespace of LDS arrays. A kernel may use 64 KiB of LDS on gfx12 (RDNA4 ISA, 12 "Data
    Share Operations")."""

    array: SpecialForm
    dynamic: SpecialForm


@documented(_namespace_text)
@dataclass(frozen=True, slots=True)
class Local:
    """The namespace of private arrays."""

    array: SpecialForm


@documented(_namespace_text)
@dataclass(frozen=True, slots=True)
class Constants:
    """The namespace of arrays whose content is part of the code."""

    array_like: SpecialForm


shared = Shared(
    array=SpecialForm(
        Form.SHARED_ARRAY,
        "`shared.array(shape, dtype)`: an uninitialised LDS array, one for the workgroup; the "
        "shape is compiled in.",
        "tile = amdjit.shared.array((16, 16), f32)",
    ),
    dynamic=SpecialForm(
        Form.SHARED_DYNAMIC,
        "`shared.dynamic(dtype, offset=0, shape=None)`: the LDS that a launch adds (`kernel[grid, "
        "block, stream, "
        "bytes]`), as an array from a multiple of 16 bytes on: of a compiled-in shape, or of one "
        "axis to the end.",
        "rows = amdjit.shared.dynamic(f32)",
    ),
)
local = Local(
    array=SpecialForm(
        Form.LOCAL_ARRAY,
        "`local.array(shape, dtype)`: an uninitialised array of the work-item's own; the shape is "
        "compiled in.",
        "sums = amdjit.local.array(8, f32)",
    )
)
const = Constants(
    array_like=SpecialForm(
        Form.CONST_ARRAY_LIKE,
        "`const.array_like(array)`: a NumPy array from outside of the kernel, of at most 64 KiB, "
        "as constants of the code; the array's own name means the same.",
        "weights = amdjit.const.array_like(WEIGHTS)",
    )
)
address_of = SpecialForm(
    Form.ADDRESS_OF,
    "`address_of(array, index)`: the element's address, for intrinsics.",
    "pointer = amdjit.address_of(x, i)",
)
