"""Kernels that tell the host something, each of which the tests run from Python and from C."""

from __future__ import annotations

import amdjit
from amdjit import bf16, f16, f32, f64, i8, i32, i64, u16, u64
from amdjit.intrinsics import sync


@amdjit.kernel(block=64)
def printing(x, n):
    """Every type, formats, several workgroups and waves."""
    i = amdjit.grid(1)
    v = x[i]
    print("item", i, n > 2, i8(i - 100), u16(60000 + i), i64(i) << 40, ~u64(i))
    if i % 32 == 5:
        print(f"{v:8.3f}|{i:05d}|{v!r}|{u64(i):x}|{v:g}", f16(v), f64(v) / 3, bf16(v), -v, "100%")
    if i % 32 == 6:
        print()
        print("KERNEL of PREFIX, WORD_LOST")
        print('a "quoted" ??= \\ text of é', v * f32(1e-9), v * f32(0), f64(v) * 1e300 * 1e300)


@amdjit.device_function(inline=False)
def checked(value, i):
    """Called on the way to a fault."""
    assert value < 50, f"value {value} of {i}"
    return value + 1


@amdjit.kernel
def asserting(x):
    """A fault in a function that the kernel calls."""
    i = amdjit.grid(1)
    x[i] = checked(x[i], i)


@amdjit.kernel
def raising(x, n):
    """An exception with arguments."""
    i = amdjit.grid(1)
    if x[i] == 40:
        raise ValueError("no forty", n)


@amdjit.kernel(bounds_check=True)
def indexing(x, y):
    """An index beyond the end."""
    i = amdjit.grid(1)
    y[i, 3] = x[i]


@amdjit.kernel
def mirrored(record, x, KERNEL):
    """Cooperative: all workgroups write before any of them reads. The parameters' names are words
    of the header's own."""
    i = amdjit.grid(1)
    x[i] = x[i] + record
    sync.grid()
    KERNEL[i] = x[x.shape[0] - 1 - i]


@amdjit.kernel
def flooding(n: i32):
    """More lines than there is room for."""
    print("line", amdjit.grid(1) + n)


@amdjit.kernel
def unwritable(x):
    """A format that C does not have."""
    print(f"{x[0]:>10}")
