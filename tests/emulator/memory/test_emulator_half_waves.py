"""LDS accesses that are made for each half of a wave together do what 32 single accesses would."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.diagnostics.errors import KernelFault
from tests.emulator.building import compile_source, emulate
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

SOURCE = """#include "common.h"
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
SHARED u32 box[512];
#define FILL for (u32 k = LANE; k < 512; k += 32) box[k] = 1000 + k; barrier()
KERNEL load(GLOBAL u32 *index, GLOBAL TYPE *out, u32 lanes) {
  FILL;
  if (LANE < lanes) out[LANE] = *(SHARED_POINTER TYPE *)(box + index[LANE]);
}
KERNEL store(GLOBAL u32 *index, GLOBAL TYPE *in, GLOBAL u32 *out, u32 lanes) {
  FILL;
  if (LANE < lanes) *(SHARED_POINTER TYPE *)(box + index[LANE]) = in[LANE];
  barrier();
  for (u32 k = LANE; k < 512; k += 32) out[k] = box[k];
}
"""
LANES = np.arange(32)
HALVES, PLACES = LANES // 16, LANES % 16
PATTERNS = {
    "rows": HALVES * 100 + PLACES * 4,
    "rows of dwords": HALVES * 100 + PLACES,
    "the same row": PLACES,
    "overlapping rows": HALVES * 5 + PLACES,
    "rows backwards": (1 - HALVES) * 200 + PLACES,
    "an element each": HALVES * 40 + 8,
    "one element": LANES * 0 + 12,
    "one lane differs": HALVES * 100 + PLACES + (LANES == 20),
    "the end": HALVES * 100 + 512 - 116 + PLACES - 12,
    "scattered": LANES * 7 % 32 * 12,
}


def code(dwords: int) -> bytes:
    kind = {1: "u32", 2: "u32x2", 4: "u32x4"}[dwords]
    pointer = "__attribute__((address_space(3)))"
    return compile_source(SOURCE.replace("SHARED_POINTER", pointer).replace("TYPE", kind))


@pytest.mark.sample(15)
@pytest.mark.covering(2)
@pytest.mark.parametrize("lanes", [32, 31, 16])
@pytest.mark.parametrize("dwords", [1, 2, 4])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_loads_of_half_waves_are_32_single_loads(pattern: str, dwords: int, lanes: int) -> None:
    index = (PATTERNS[pattern] // dwords * dwords).astype(np.uint32)
    out = np.zeros((32, dwords), np.uint32)
    emulate(code(dwords), "load", 1, 32, [index, out, np.uint32(lanes)])
    expected = 1000 + index[:, None] + np.arange(dwords)
    expected[lanes:] = 0
    np.testing.assert_array_equal(out, expected)


@pytest.mark.sample(15)
@pytest.mark.covering(2)
@pytest.mark.parametrize("lanes", [32, 31, 16])
@pytest.mark.parametrize("dwords", [1, 2, 4])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_stores_of_half_waves_are_32_single_stores(pattern: str, dwords: int, lanes: int) -> None:
    index = (PATTERNS[pattern] // dwords * dwords).astype(np.uint32)
    values = np.arange(32 * dwords, dtype=np.uint32).reshape(32, dwords)
    out = np.zeros(512, np.uint32)
    emulate(code(dwords), "store", 1, 32, [index, values, out, np.uint32(lanes)])
    expected = 1000 + np.arange(512)
    for lane in range(lanes):
        expected[index[lane] : index[lane] + dwords] = values[lane]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("kernel", ["load", "store"])
@pytest.mark.parametrize("dwords", [1, 2, 4])
@pytest.mark.parametrize("start", [504, 512, (1 << 30) - 8])
def test_the_upper_half_may_be_outside(start: int, dwords: int, kernel: str) -> None:
    arrays = [np.zeros((32, dwords), np.uint32), np.zeros(512, np.uint32)][
        : 1 + (kernel == "store")
    ]
    for inner in (PLACES, PLACES * 0):
        index = (HALVES * start + inner).astype(np.uint32) // dwords * dwords
        if index.max() + dwords <= 512:
            continue
        with pytest.raises(KernelFault) as caught:
            emulate(code(dwords), kernel, 1, 32, [index.astype(np.uint32), *arrays, np.uint32(32)])
        assert caught.value.kind == "out-of-bounds"
        assert (caught.value.lane or 0) >= 16
