"""What buffers cannot do is refused at the line that asks for it."""

from __future__ import annotations

from typing import Any

import pytest

import amdjit
from amdjit import atomic, f32, i32, shared, vector
from amdjit.intrinsics import memory


@amdjit.kernel
def no_format(x):
    memory.buffer_load_format(memory.buffer(x), 0, "8_8_8_UNORM")


@amdjit.kernel
def scaled_store(x):
    memory.buffer_store_format(memory.buffer(x), 0, f32(1), "8_USCALED")


@amdjit.kernel
def wrong_value(x):
    memory.buffer_store_format(memory.buffer(x), 0, f32(1), "8_8_UNORM")


@amdjit.kernel
def narrow_integers(x):
    memory.buffer_load_format(memory.buffer(x), 0, "8_8_UINT", narrow=True)


@amdjit.kernel
def long_records(x):
    memory.records(x, 5000)


@amdjit.kernel
def records_of_any_size(x, n):
    memory.records(x, n)


@amdjit.kernel
def untyped(x):
    memory.buffer_store(memory.buffer(x), 0, 1)


@amdjit.kernel
def array_as_buffer(x):
    memory.buffer_load(x, 0, f32)


@amdjit.kernel
def high_temporal(x):
    memory.store(x, 0, memory.load(x, 0, "high_temporal"))


@amdjit.kernel
def three_wide(x):
    memory.load(x, 0, "non_temporal", 3)


@amdjit.kernel
def other_elements(x):
    memory.store(x, 0, vector(i32, 2)(0))


@amdjit.kernel
def every_other_element(x):
    memory.buffer_load(memory.buffer(x[::2]), 0, f32)


@amdjit.kernel
def lds_as_buffer(x):
    memory.buffer_load(memory.buffer(shared.array(32, f32)), 0, f32)


@amdjit.kernel
def type_as_text(x):
    memory.buffer_load(memory.buffer(x), 0, "f32")


@amdjit.kernel
def float_of_python(x):
    atomic.load(memory.buffer(x), 0, dtype=float)


@amdjit.kernel
def no_policy(x):
    memory.load(x, 0, "non_temporary")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (every_other_element, "need not be contiguous"),
        (lds_as_buffer, "in global memory, not f32\\[32\\] in LDS"),
        (type_as_text, "'f32' cannot be the type of a buffer's elements"),
        (float_of_python, "cannot be the type of a buffer's elements"),
        (no_policy, "did you mean 'non_temporal'"),
        (three_wide, "not a wide access"),
        (other_elements, "convert its elements"),
        (no_format, "no format '8_8_8_UNORM'"),
        (scaled_store, "no document says how a store rounds"),
        (wrong_value, "f32x2"),
        (narrow_integers, "no narrow form"),
        (long_records, "16383 bytes"),
        (records_of_any_size, "known when the kernel is compiled"),
        (untyped, "f32\\(0.5\\)"),
        (array_as_buffer, "not a buffer resource"),
        (high_temporal, "non_temporal"),
    ],
)
def test_what_buffers_cannot_do_is_refused_at_the_line(kernel: Any, message: str) -> None:
    types = (f32[:], i32) if kernel is records_of_any_size else (f32[:],)
    with pytest.raises(amdjit.CompileError, match=message) as error:
        kernel.compile(*types)
    assert "test_refused_buffers.py" in str(error.value)
    assert len(error.value.diagnostics) == 1
