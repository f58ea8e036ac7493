"""Headers and examples as compilers see them, and the checks that launches from C make."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from amdjit import bf16, f16, f32, i8, i32
from amdjit.ahead_of_time import build
from amdjit.ahead_of_time.building import FORMAT
from amdjit.command_line import parse_signature
from amdjit.target import TARGETS, device_target, most_specific, runs_on
from tests.ahead_of_time import built_kernels as kernels
from tests.ahead_of_time.standin_programs import (
    COMPILERS,
    HERE,
    compile_c,
    has,
    needs_standin,
    run_programs,
)

pytestmark = needs_standin

REAL_HIP = [
    Path(place, "include")
    for place in (os.environ.get("ROCM_PATH", "/opt/rocm"), "/usr")
    if Path(place, "include/hip/hip_runtime_api.h").is_file()
]
EVERYTHING = "Line,(u16, i16[:]),3,VERTEX[:],f32x3,f64[:]"


@pytest.mark.sample(2)
@pytest.mark.parametrize("language", COMPILERS)
@pytest.mark.parametrize("headers", [HERE / "hip_headers", *REAL_HIP], ids=str)
def test_all_files_compile_without_a_warning(language: str, headers: Path, tmp_path: Path) -> None:
    compiler = COMPILERS[language]
    if not has(compiler[0]):
        pytest.skip(f"{compiler[0]} is needed")
    types = parse_signature(EVERYTHING, vars(kernels))
    found = build(kernels.records, *types, target=["gfx12-generic", "gfx942:xnack-"], embed=True)
    found.write(tmp_path)
    types = parse_signature("ODD[:],f32[:],f32,f32[:],f32,int", vars(kernels))
    build(kernels.odd_names, *types, name="odd").write(tmp_path / "odd")
    # Several kernels in one program.
    other = build(kernels.small_floats, f16[:], bf16[:], f16[:], f16, bf16, f32[:], name="other")
    other.write(tmp_path / "other")
    both = tmp_path / "both.c"
    headers_of_all = ["records.h", "other/other.h", "odd/odd.h", "records.h"]
    both.write_text("".join(f'#include "{each}"\n' for each in headers_of_all))
    compile_c(tmp_path / "odd.so", [tmp_path / "odd/main.c"], compiler=compiler, headers=headers)
    sources = sorted(tmp_path.glob("*.c"))
    compile_c(tmp_path / "all.so", sources, compiler=compiler, headers=headers)


_REFUSED = """\
#include <stdio.h>
#include "saxpy.h"
static saxpy_kernel kernel;
static saxpy_arguments good;
static unsigned grid[3] = {1, 1, 1}, block[3] = {64, 1, 1};
static void say(const char *name, const saxpy_arguments *arguments, unsigned lds) {
  const char *refusal = saxpy_refusal(&kernel, grid, block, lds, arguments);
  hipError_t error = saxpy_launch(&kernel, grid, block, lds, NULL, arguments);
  printf("%s: %d %s\\n", name, (int)error, refusal ? refusal : "-");
}
static void with_grid(const char *name, unsigned x, unsigned y, unsigned bx, unsigned by) {
  grid[0] = x, grid[1] = y, block[0] = bx, block[1] = by;
  say(name, &good, 0);
  grid[0] = grid[1] = block[1] = 1, block[0] = 64;
}
int main(void) {
  saxpy_arguments bad;
  void *memory;
  say("not loaded", &good, 0);
  if (saxpy_load_file(&kernel, "absent.hsaco") == hipSuccess) return 1;
  say("no such file", &good, 0);
  if (saxpy_load_embedded(&kernel) || hipMalloc(&memory, 4096)) return 2;
  good.x.data = (float *)memory;
  good.y.data = good.x.data + 64, good.out.data = (float *)memory + 128;
  good.x.shape[0] = good.y.shape[0] = good.out.shape[0] = 64;
  say("good", &good, 0);
  say("all of LDS", &good, 65536);
  say("more LDS", &good, 65537);
  with_grid("empty grid", 1, 0, 64, 1);
  with_grid("empty block", 1, 1, 0, 1);
  with_grid("large block", 1, 1, 1024, 2);
  with_grid("huge block", 1, 1, 65536, 65536);
  with_grid("large grid", 1, 65536, 1, 1);
  with_grid("many work-items", 1u << 26, 1, 64, 1);
  bad = good, bad.x.shape[0] = -1;
  say("negative", &bad, 0);
  bad = good, bad.x.shape[0] = INT64_C(1) << 29;
  say("2 GiB", &bad, 0);
  bad = good, bad.x.shape[0] = INT64_MAX;
  say("huge", &bad, 0);
  bad = good, bad.y.data = NULL;
  say("NULL", &bad, 0);
  bad.y.shape[0] = 0;
  say("NULL and empty", &bad, 0);
  bad = good, bad.x.data = (const float *)((char *)memory + 2);
  say("misaligned", &bad, 0);
  bad = good, bad.out.data = (float *)memory + 63;
  say("overlapping by one", &bad, 0);
  bad = good, bad.y.data = bad.x.data;
  say("two that are read", &bad, 0);
  return 0;
}
"""


def test_launches_that_python_would_refuse_are_refused_in_c(tmp_path: Path) -> None:
    build(kernels.saxpy, f32, f32[:], f32[:], f32[:], embed=True).write(tmp_path)
    (tmp_path / "refused.c").write_text(_REFUSED)
    sources = [tmp_path / "refused.c", tmp_path / "saxpy_code_object.c"]
    program = compile_c(tmp_path / "refused.so", sources)
    text = run_programs({"refused": program}, tmp_path)["refused"]
    assert text.splitlines() == [
        "not loaded: 1 the kernel is not loaded: call saxpy_load_file first",
        "no such file: 1 the kernel is not loaded: call saxpy_load_file first",
        "good: 0 -",
        "all of LDS: 0 -",
        "more LDS: 1 too much dynamic LDS: with lds_bytes of the target it is over lds_limit of it",
        "empty grid: 1 the grid is empty along an axis: each of its three extents is 1 or more",
        "empty block: 1 the block is empty along an axis: each of its three extents is 1 or more",
        *(
            f"{which} block: 1 the block has more work-items than the kernel was compiled for: "
            "max_block of its target"
            for which in ("large", "huge")
        ),
        "large grid: 1 the grid has too many workgroups along an axis: 2147483647, 65535 and 65535 "
        "are the most",
        "many work-items: 1 the grid has more work-items along an axis than can be counted: "
        "2^31 - 1",
        "negative: 1 x has a negative extent",
        "2 GiB: 1 x spans 2 GiB or more: build for the type 'f32[::1] over 2 GiB'",
        "huge: 1 x spans 2 GiB or more: build for the type 'f32[::1] over 2 GiB'",
        "NULL: 1 y.data is NULL, and the array is not empty",
        "NULL and empty: 0 -",
        "misaligned: 1 x.data is not aligned: it must be a multiple of 4 bytes",
        "overlapping by one: 1 x and out share memory: build for the type 'f32[::1] overlapping' "
        "of both",
        "two that are read: 0 -",
        "exit 0",
    ]


_STRIDED = """\
#include <stdio.h>
#include "transposed.h"
static const transposed_target target = {"gfx1201", {0, 0, 0}, 32, 1024, 0, 65536, 1, 1, 0, 0, 0};
int check(int64_t at, const int64_t *shape, const int64_t *strides);
int check(int64_t at, const int64_t *shape, const int64_t *strides) {
  static const unsigned one[3] = {1, 1, 1};
  transposed_kernel kernel;
  transposed_arguments arguments;
  const char *refusal;
  memset(&arguments, 0, sizeof arguments);
  kernel.target = &target;
  arguments.x.data = (const float *)(uintptr_t)(UINT64_C(1) << 40);
  memcpy(arguments.x.shape, shape, 2 * sizeof *shape);
  memcpy(arguments.x.strides, strides, 2 * sizeof *strides);
  arguments.out.data = (float *)(uintptr_t)at;
  arguments.out.shape[0] = arguments.out.shape[1] = 1;
  refusal = transposed_refusal(&kernel, one, one, 0, &arguments);
  return refusal ? strstr(refusal, "share") ? 1 : 2 : 0;
}
"""


def test_the_span_of_a_strided_array_is_what_numpy_says(tmp_path: Path) -> None:
    """Arrays of one element beside and inside of x, with strides of both signs."""
    build(kernels.transposed, f32[:, :].with_facts(contiguous=False), f32[:, :]).write(tmp_path)
    (tmp_path / "strided.c").write_text(_STRIDED)
    check = ctypes.CDLL(str(compile_c(tmp_path / "s.so", [tmp_path / "strided.c"]))).check
    numbers = [(3, 2), (1, 5), (4, 1)]
    memory = np.zeros(400, np.float32)
    for shape, strides in itertools.product(numbers, [(2, 1), (-7, 3), (5, -2), (-3, -4), (0, 1)]):
        view = np.lib.stride_tricks.as_strided(memory[200:], shape, [4 * each for each in strides])
        low, high = np.lib.array_utils.byte_bounds(view)
        start = memory.ctypes.data + 800
        pair = [(ctypes.c_int64 * 2)(*each) for each in (shape, strides)]
        for offset, inside in (
            (low - start - 4, 0), (low - start, 1), (high - start - 4, 1), (high - start, 0)
        ):  # fmt: skip
            assert check(ctypes.c_int64((1 << 40) + offset), *pair) == inside
    # 2 GiB less than an element, and a whole element more, to both sides of the address.
    two = (ctypes.c_int64 * 2)(2, 2)
    for step, expected in ((2**28 - 2, 0), (2**28 - 1, 2)):
        strides = (ctypes.c_int64 * 2)(-(2**28), step)
        assert check(ctypes.c_int64(1 << 41), two, strides) == expected
    huge = (ctypes.c_int64 * 2)(2**31 - 1, 2**31 - 1)
    assert check(ctypes.c_int64(0), huge, huge) == 2
    least = (ctypes.c_int64 * 2)(-(2**63), 1)
    assert check(ctypes.c_int64(0), two, least) == 2


_FLOATS = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "fp8_fnuz": ml_dtypes.float8_e4m3fnuz,
    "bf8_fnuz": ml_dtypes.float8_e5m2fnuz,
}


def test_small_floats_convert_as_numpy_converts_them(tmp_path: Path) -> None:
    """All codes to numbers, and to codes: all midpoints, their neighbours, and random numbers."""
    build(kernels.nothing).write(tmp_path)
    functions = "\n".join(
        f"double value_{name}(uint32_t bits);\nuint32_t bits_{name}(double value);\n"
        f"double value_{name}(uint32_t bits) {{\n"
        f"  return amdjit_{name}_value((amdjit_{name})bits);\n}}\n"
        f"uint32_t bits_{name}(double value) {{ return amdjit_{name}_bits(value); }}"
        for name in _FLOATS
    )
    (tmp_path / "floats.c").write_text(f'#include "nothing.h"\n{functions}\n')
    library = ctypes.CDLL(str(compile_c(tmp_path / "floats.so", [tmp_path / "floats.c"])))
    for name, dtype in _FLOATS.items():
        value, bits = getattr(library, f"value_{name}"), getattr(library, f"bits_{name}")
        value.restype, bits.argtypes = ctypes.c_double, [ctypes.c_double]
        unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
        codes = np.arange(2 ** (8 * unsigned.itemsize)).astype(unsigned)
        with np.errstate(invalid="ignore"):
            numbers = codes.view(dtype).astype(np.float64)
        found = np.array([value(int(code)) for code in codes])
        np.testing.assert_array_equal(found, numbers)
        samples = _between(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = samples.astype(dtype)
        made = np.array([bits(float(each)) for each in samples]).astype(unsigned).view(dtype)
        is_nan = np.isnan(expected.astype(np.float64))
        np.testing.assert_array_equal(np.isnan(made.astype(np.float64)), is_nan, name)
        np.testing.assert_array_equal(
            made.view(unsigned)[~is_nan], expected.view(unsigned)[~is_nan], name
        )


_CHOICE = """\
#include "nothing.h"
unsigned fit(const char *id, const char *device);
unsigned fit(const char *id, const char *device) { return (unsigned)amdjit_runs_on(id, device); }
"""


def test_code_is_chosen_for_a_device_as_in_python(tmp_path: Path) -> None:
    build(kernels.nothing).write(tmp_path)
    (tmp_path / "choice.c").write_text(_CHOICE)
    fit = ctypes.CDLL(str(compile_c(tmp_path / "choice.so", [tmp_path / "choice.c"]))).fit
    ids = [*(row.id for row in TARGETS), "gfx942:xnack+", "gfx942:sramecc+:xnack-", "gfx95"]
    ids += ["gfx9-4-generic:xnack-", "gfx9-4-generic:sramecc+:xnack-", "gfx12-generi"]
    there = ["gfx942:sramecc+:xnack-", "gfx950:sramecc-:xnack+", "gfx1250", "gfx2-generic", "gfx94"]
    for device in [*there, *(row.id for row in TARGETS if not row.members)]:
        fits = {id: fit(id.encode(), device.encode()) for id in ids}
        wanted = device_target(device)
        codes = [found for id in ids if (found := device_target(id)) is not None]
        running = [code for code in codes if wanted is not None and runs_on(code, wanted)]
        assert {id for id, number in fits.items() if number} == {code.id for code in running}
        if wanted is not None:
            assert most_specific(codes, wanted) == device_target(max(fits, key=lambda id: fits[id]))


def _between(numbers: Any) -> Any:
    """Numbers that f32 holds: some of those given, the middles between neighbours, what is just
    beside these, and others of all sizes."""
    finite = np.unique(numbers[np.isfinite(numbers)])
    if len(finite) > 4000:
        finite = np.unique(np.concatenate([finite[::37], finite[:50], finite[-50:]]))
    middles = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
    beside = [np.nextafter(middles, np.float32(side)) for side in (-np.inf, np.inf)]
    rng = np.random.default_rng(3)
    others = (rng.standard_normal(2000) * 2.0 ** rng.integers(-30, 40, 2000)).astype(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40], np.float32)
    every = [finite.astype(np.float32), middles, *beside, others, special]
    return np.concatenate(every).astype(np.float64)


def test_the_metadata_fits_its_schema() -> None:
    file = Path(kernels.__file__).parents[2] / "amdjit/ahead_of_time/metadata_schema.json"
    schema = json.loads(file.read_text())
    assert schema["properties"]["format"]["const"] == FORMAT
    types = parse_signature(EVERYTHING, vars(kernels))
    found = build(kernels.records, *types, target=["gfx1201", "gfx942"], opt_level=2)
    description = json.loads(found.files["records.json"])
    check_schema(description, schema, schema)
    assert description["files"] == list(found.files)
    assert description["options"] == {"opt_level": 2}
    exact = build(kernels.reversed_rows, i32[:, :], i32[:, :])
    described = json.loads(exact.files["reversed_rows.json"])
    check_schema(described, schema, schema)
    (target,) = described["targets"]
    assert target["required_block"] == [64, 2, 1]
    assert target["lds_bytes"] == 512
    with pytest.raises(AssertionError):
        check_schema({**description, "more": 1}, schema, schema)
    with pytest.raises(AssertionError):
        check_schema({**description, "targets": []}, schema, schema)


_JSON_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def check_schema(value: Any, schema: Any, root: Any) -> None:
    """Assert what a JSON schema says, as far as this one's words go."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    known = {"$schema", "title", "description", "$defs", "type", "const", "enum", "required"}
    known |= {"properties", "additionalProperties", "items", "minimum", "minItems", "pattern"}
    assert set(schema) <= known
    if "const" in schema or "enum" in schema:
        assert value in schema.get("enum", [schema.get("const")])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not kinds or any(_is_a(value, kind) for kind in kinds), (value, schema)
    if isinstance(value, dict) and "properties" in schema:
        assert set(schema["required"]) <= set(value) <= set(schema["properties"]), value
        for key, each in value.items():
            check_schema(each, schema["properties"][key], root)
    if isinstance(value, list):
        assert len(value) >= schema.get("minItems", 0)
        for each in value:
            check_schema(each, schema["items"], root)
    if isinstance(value, int):
        assert value >= schema.get("minimum", value)


def _is_a(value: Any, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, _JSON_TYPES[kind])


def test_numbers_that_do_not_fit_their_use_are_refused_in_c(tmp_path: Path) -> None:
    build(kernels.by_width, int, f32[:]).write(tmp_path)
    text = (tmp_path / "by_width.h").read_text()
    assert "n does not fit i8, as which the kernel uses it" in text
    assert i8.minimum == -128
    assert "if (arguments->n < -128 || arguments->n > 127)" in text
