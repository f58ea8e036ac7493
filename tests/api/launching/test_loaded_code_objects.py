"""`amdjit.load`: kernels of clang, of Triton and of amdjit itself, on the emulator."""

from __future__ import annotations

import ctypes
import functools
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.code_object import MalformedCodeObject

OBJECTS = Path(__file__).parents[2] / "foreign" / "objects"
SOURCE = """
typedef struct { float scale; int offset; } Pair;
__attribute__((amdgpu_kernel)) __attribute__((amdgpu_flat_work_group_size(1, 128)))
void scaled(__attribute__((address_space(1))) float *out,
            __attribute__((address_space(1))) const float *in, Pair pair, short n, char is_on) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x();
  if (i < n && is_on) out[i] = (in ? in[i] : 1.0f) * pair.scale + pair.offset;
}
__attribute__((amdgpu_kernel))
void fixed(__attribute__((address_space(1))) int *out, double d, unsigned long long wide) {
  out[__builtin_amdgcn_workitem_id_x()] = (int)d + (int)(wide >> 32);
}
"""


@functools.cache
def clang_object(target: str = "gfx1201") -> bytes:
    if shutil.which("clang-22") is None:
        pytest.skip("clang-22 is not installed")
    with tempfile.TemporaryDirectory() as folder:
        source, found = Path(folder) / "kernels.c", Path(folder) / "kernels.co"
        source.write_text(SOURCE)
        command = ["clang-22", "-O2", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib"]
        plain = Path(folder) / "kernels.o"
        subprocess.run([*command, "-c", "-o", str(plain), str(source)], check=True)
        linker = [shutil.which("python") or "python", "-m", "ziglang", "ld.lld"]
        subprocess.run([*linker, "-shared", "-o", str(found), str(plain)], check=True)
        return found.read_bytes()


class Pair(ctypes.Structure):
    _fields_ = (("scale", ctypes.c_float), ("offset", ctypes.c_int))


PAIRS: list[Any] = [
    Pair(2.0, 3),
    struct.pack("<fi", 2.0, 3),
    np.array((2.0, 3), np.dtype([("scale", np.float32), ("offset", np.int32)]))[()],
]


@pytest.mark.parametrize("pair", PAIRS, ids=["ctypes", "bytes", "NumPy"])
def test_kernels_of_clang_launch_with_values_of_their_sizes(pair: Any) -> None:
    module = amdjit.load(clang_object())
    kernel = module.kernels["scaled"]
    x = np.arange(100, dtype=np.float32)
    given, out = amdjit.to_device(x), amdjit.zeros(100)
    kernel[4, 32](out, given, pair, 90, True)
    np.testing.assert_array_equal(out.copy_to_host(), np.where(x < 90, x * 2 + 3, 0))
    kernel.launch(grid=4, block=32, stream=amdjit.Stream())(
        out.address, None, pair, np.int16(100), np.int8(1)
    )
    np.testing.assert_array_equal(out.copy_to_host(), 5)


def test_a_module_says_what_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "kernels.hsaco"
    file.write_bytes(clang_object())
    module = amdjit.load(file)
    assert (module.targets, list(module.kernels)) == (("gfx1201",), ["scaled", "fixed"])
    scaled = module.kernels["scaled"]
    assert scaled.signature == (
        "scaled(pointer, pointer, value of 8 bytes, value of 2 bytes, value of 1 bytes)"
    )
    assert scaled.metadata.max_flat_workgroup_size == 128
    assert f"{scaled.metadata.vgpr_count} VGPRs" in repr(scaled)


def test_numbers_of_python_fill_values_by_their_size() -> None:
    out = amdjit.zeros(64, np.int32)
    amdjit.load(clang_object()).kernels["fixed"][1, 64](out, 2.5, (1 << 63) + (7 << 32))
    assert out.copy_to_host()[5] == 2 + 7 - (1 << 31)


REFUSED: list[tuple[str, Any, Any, str]] = [
    ("scaled", (4, 32), (None,), r"scaled\(pointer, .*takes 5 arguments, but 1 was given"),
    ("scaled", (4, 32), (1.5, None, PAIRS[0], 1, 1), "argument 1 is a pointer: pass a D"),
    ("scaled", (4, 32), (np.zeros(3), None, PAIRS[0], 1, 1), r"amdjit\.to_device\(array\)"),
    ("scaled", (4, 32), (-1, None, PAIRS[0], 1, 1), "-1 is not an address"),
    ("scaled", (4, 32), (None, None, 3, 1, 1), None),
    ("scaled", (4, 32), (None, None, 3.0, 1, 1), None),
    ("scaled", (4, 32), (None, None, PAIRS[0], 1 << 16, 1), "argument 4 has 2 bytes, and 65"),
    ("scaled", (4, 32), (None, None, PAIRS[0], np.int32(1), 1), r"np\.int32\(1\) has 4"),
    ("scaled", (4, 32), (None, None, PAIRS[0], 1, "x"), "not a str"),
    ("scaled", (4, 32), (None, None, PAIRS[0], 1e9, 1), "does not fit a float"),
    ("scaled", (4, 32), (None, None, PAIRS[0], 1, 1.0), "no Python float can fill"),
    ("scaled", (4, 256), (None, None, PAIRS[0], 1, 1), "compiled for at most 128"),
    ("scaled", (0, 32), (None, None, PAIRS[0], 1, 1), "the grid is 0"),
    ("scaled", (4, 32, None, 1 << 20), (None, None, PAIRS[0], 1, 1), "bytes of LDS"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "launch", "arguments", "message"), REFUSED)
def test_mistakes_are_refused(name: str, launch: Any, arguments: Any, message: str | None) -> None:
    kernel = amdjit.load(clang_object()).kernels[name]
    if message is None:  # eight bytes of any kind fit: nobody knows better
        kernel[launch](amdjit.zeros(128), *arguments[1:])
        return
    with pytest.raises(amdjit.LaunchError, match=message):
        kernel[launch](*arguments)
    with pytest.raises(amdjit.LaunchError, match=r"\[grid, block\]"):
        kernel()


def test_a_required_block_is_required() -> None:
    name, kernel = next(iter(amdjit.load(OBJECTS / "iree_sum.co").kernels.items()))
    assert (kernel.name, kernel.metadata.required_workgroup_size) == (name, (1, 1, 1))
    with pytest.raises(amdjit.LaunchError, match=r"exactly block=\(1, 1, 1\)"):
        kernel[1, 1024](None, None)


def test_another_processor_is_refused_with_the_remedy() -> None:
    kernel = amdjit.load(clang_object()).kernels["fixed"]
    with (
        amdjit.use("emulator:gfx1200"),
        pytest.raises(amdjit.LaunchError, match=r"is for gfx1201.*use\(\"emulator:gfx1201\"\)"),
    ):
        kernel[1, 64](None, 1.0, 1)


def test_arrays_of_another_device_are_refused() -> None:
    with amdjit.use("emulator:gfx1200"):
        elsewhere = amdjit.zeros(64, np.int32)
    with pytest.raises(amdjit.LaunchError, match="is on emulator:gfx1200, the launch on"):
        amdjit.load(clang_object()).kernels["fixed"][1, 64](elsewhere, 1.0, 1)


ENTRY = "hipv4-amdgcn-amd-amdhsa--"


def bundle(*parts: tuple[str, bytes], magic: bytes = b"__CLANG_OFFLOAD_BUNDLE__") -> bytes:
    """Return a bundle as the Clang documentation lays it out."""
    table, at = b"", 4096
    for name, data in parts:
        table += struct.pack("<3Q", at, len(data), len(name)) + name.encode()
        at += -(-len(data) // 4096) * 4096
    text = (magic + struct.pack("<Q", len(parts)) + table).ljust(4096, b"\0")
    return text + b"".join(data.ljust(-(-len(data) // 4096) * 4096, b"\0") for _, data in parts)


def test_bundles_have_code_for_several_processors() -> None:
    host = "host-x86_64-unknown-linux-gnu-"
    parts = [(f"hipv4-amdgcn-amd-amdhsa--{t}", clang_object(t)) for t in ("gfx1200", "gfx1201")]
    module = amdjit.load(bundle((host, b""), *parts))
    assert module.targets == ("gfx1200", "gfx1201")
    for target in module.targets:
        with amdjit.use(f"emulator:{target}"):
            out = amdjit.zeros(64, np.int32)
            module.kernels["fixed"][1, 64](out, 3.0, 1)
            assert out.copy_to_host().tolist() == [3] * 64


def test_generic_code_of_clang_runs_on_members_that_have_none_of_their_own() -> None:
    names = ("gfx1151", "gfx11-generic", "gfx12-generic", "gfx9-4-generic")
    parts = [(f"{ENTRY}{name}", clang_object(name)) for name in names]
    module = amdjit.load(bundle(*parts))
    for device, code in [
        *(("gfx1151", "gfx1151"), ("gfx1152", "gfx11-generic"), ("gfx1100", "gfx11-generic")),
        *(("gfx1201", "gfx12-generic"), ("gfx942", "gfx9-4-generic")),
        ("gfx950", "gfx9-4-generic"),
    ]:
        with amdjit.use(f"emulator:{device}") as found:
            assert module.target_for(found) == code
            out = amdjit.zeros(64, np.int32)
            module.kernels["fixed"][1, 64](out, 3.0, 1 << 32)
            assert out.copy_to_host().tolist() == [4] * 64
    alone = np.zeros(64, np.int32)
    arguments = (alone, np.float64(5), np.uint64(0))
    amdjit.emulator.run(clang_object("gfx12-generic"), "fixed", 1, 64, arguments)
    assert alone.tolist() == [5] * 64
    with (
        amdjit.use("emulator:gfx90a"),
        pytest.raises(amdjit.LaunchError, match="and emulator:gfx90a is a gfx90a: compile for"),
    ):
        module.kernels["fixed"][1, 64](amdjit.zeros(64, np.int32), 3.0, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"CCOB", "ends within its header"),
        (b"CCOB" + struct.pack("<HH", 9, 0), "has version 9.*--no-offload-compress"),
        (b"__CLANG_OFFLOAD_BUNDLE__\x01", "ends within its table"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1 << 40), "claims"),
        (bundle(("host-x86_64", b"x")), "no code for AMD GPUs"),
        (bundle((ENTRY + "gfx1201", b"x" * 5000))[:5000], "ends within hipv4-amdgcn"),
        (bundle((ENTRY + "gfx1201", b"x" * 5000)), "not an ELF file"),
        (bundle((ENTRY + "gfx803", b"x"), (ENTRY + "gfx902", b"x")), "for gfx803, gfx902, which"),
        (b"no code object", "ELF"),
    ],
)
def test_damaged_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(MalformedCodeObject, match=message):
        amdjit.load(data)


def test_kernels_of_triton_compute_what_numpy_does() -> None:
    rng = np.random.default_rng(5)
    m, n, k = 50, 40, 70
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    kernel = amdjit.load(OBJECTS / "triton_matmul_f16.co").kernels["matmul"]
    given = amdjit.to_device(a), amdjit.to_device(b)
    out = amdjit.zeros((m, n))
    for _ in range(2):
        kernel[4, 128, None, 8192](*given, out, m, n, k, k, 1, n, 1, n, None, None)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(out.copy_to_host(), expected)


def test_kernels_of_amdjit_are_loaded_again_with_checks_faults_and_graphs() -> None:
    @amdjit.kernel
    def store(out, n):
        out[amdjit.threadIdx.x + n] = 1.0

    compiled = store.compile(amdjit.f32[:], amdjit.i32, target="gfx1201")
    kernel = amdjit.load(compiled.code_object).kernels["store"]
    out, stream = amdjit.zeros(64), amdjit.Stream()
    with amdjit.sanitize("memory") as found:
        kernel[1, 32](out, 64, 0)
    assert found.reports == []
    names = "(out: pointer, out.extent0: value of 4 bytes, n: value of 4 bytes)"
    assert kernel.signature == f"store{names}"
    with stream.capture() as graph:
        kernel[1, 32, stream](out, 64, 32)
    assert out.copy_to_host().sum() == 32
    graph.instantiate().launch(stream)
    assert out.copy_to_host(stream=stream).sum() == 64
    with pytest.raises(amdjit.KernelFault) as info:
        kernel[1, 32](out, 64, 1000)
    assert info.value.kind == "out-of-bounds"
