"""Arrays that live on the compute unit: `shared` in LDS, one per workgroup; `local`, one per
work-item."""

from __future__ import annotations

from dataclasses import dataclass

from amdjit.declarations import Form, SpecialForm


@dataclass(frozen=True, slots=True)
class Shared:
    """The namespace of LDS arrays. A kernel may use 64 KiB of LDS on gfx12 (RDNA4 ISA, 12 "Data
    Share Operations")."""

    array: SpecialForm
    dynamic: SpecialForm


@dataclass(frozen=True, slots=True)
class Local:
    """The namespace of private arrays."""

    array: SpecialForm


shared = Shared(
    array=SpecialForm(
        Form.SHARED_ARRAY,
        "`shared.array(shape, dtype)`: an uninitialised LDS array, one for the workgroup; the "
        "shape is compiled in.",
    ),
    dynamic=SpecialForm(
        Form.SHARED_DYNAMIC,
        "`shared.dynamic(dtype, offset=0, shape=None)`: the LDS that a launch adds (`kernel[grid, "
        "block, stream, "
        "bytes]`), as an array from a multiple of 16 bytes on: of a compiled-in shape, or of one "
        "axis to the end.",
    ),
)
local = Local(
    array=SpecialForm(
        Form.LOCAL_ARRAY,
        "`local.array(shape, dtype)`: an uninitialised array of the work-item's own; the shape is "
        "compiled in.",
    )
)
address_of = SpecialForm(
    Form.ADDRESS_OF, "`address_of(array, index)`: the element's address, for intrinsics."
)
