"""The lines of the source among the machine code."""

import amdjit
from amdjit import f32, threadIdx


@amdjit.device_function
def scaled(x, factor):
    return x * factor


@amdjit.kernel
def own_lines(a: f32[:], out: f32[:]):
    """Each instruction follows the line that it comes from."""
    i = threadIdx.x
    x = a[i]
    out[i] = x + 1.0
    # CHECK: ; source_lines.py:{{\d+}} x = a[i]
    # CHECK: global_load_b32
    # CHECK: ; source_lines.py:{{\d+}} out[i] = x + 1.0
    # CHECK: v_add_f32_e32 v?, 1.0, v?


@amdjit.kernel
def lines_of_functions(a: f32[:], out: f32[:]):
    """Code of an inlined function has the function's line, not the call's."""
    i = threadIdx.x
    out[i] = scaled(a[i], 3.0)
    # CHECK: ; source_lines.py:{{\d+}} return x * factor
    # CHECK: v_mul_f32_e32 v?, 0x40400000, v?


@amdjit.kernel(debug_info=False)
def no_lines(a: f32[:], out: f32[:]):
    """`debug_info=False` leaves them out."""
    out[0] = a[0]
    # CHECK-NOT: source_lines.py
    # CHECK-NOT: .loc
