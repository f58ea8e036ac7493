"""Arguments are packed into the kernarg layout that LLVM compiles kernels for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amdjit import types as t
from amdjit.abi.kernarg import kernarg_order
from amdjit.code_object.code_object import CodeObject
from amdjit.lowering.abi import kernel_argument_types
from amdjit.runtime.arguments import ArgumentPacker, kernarg_fields

sys.path.insert(0, str(Path(__file__).parent / "standin_hip"))

import code_objects

ARRAYS = [
    t.Array(element, ndim, layout, offset_bits=bits)
    for element in (t.f16, t.f64)
    for ndim in (1, 3)
    for layout in (t.Layout.CONTIGUOUS, t.Layout.STRIDED)
    for bits in (32, 64)
]
VECTORS = [
    t.vector(element, n)
    for element in (t.i8, t.f16, t.bf16, t.f32, t.f64)
    for n in (2, 3, 4, 5, 8, 16, 32)
]
# A byte first and between, so that every alignment shows.
SIGNATURES = {
    "scalars": [type for scalar in t.SCALARS for type in (t.i8, scalar)],
    "vectors": [type for vector in VECTORS for type in (t.i8, vector)],
    "arrays": [type for array in ARRAYS for type in (t.boolean, array)],
    "saxpy": [t.f32, ARRAYS[0], ARRAYS[0], ARRAYS[2]],
    "nothing": [],
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_offsets_are_those_in_the_metadata_that_llvm_writes(name: str) -> None:
    types = SIGNATURES[name]
    in_order = [str(llvm) for type in types for llvm in kernel_argument_types(type)]
    parameters = [in_order[position] for position in kernarg_order(types)]
    text = ", ".join(f"{parameter} %{i}" for i, parameter in enumerate(parameters))
    code_object = code_objects.linked(
        f'target triple = "amdgcn-amd-amdhsa"\ndefine amdgpu_kernel void @k({text}) {{ ret void '
        f"}}\n"
        "!llvm.module.flags = !{!0}\n"
        '!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}\n'
    )
    metadata = CodeObject.read(code_object).kernels["k"].metadata
    explicit = [a for a in metadata.arguments if not a.value_kind.startswith("hidden_")]
    fields = [field for fields in kernarg_fields(types) for field in fields]
    fields.sort(key=lambda field: field.offset)
    assert [field.offset for field in fields] == [argument.offset for argument in explicit]
    for field, argument in zip(fields, explicit, strict=True):
        assert argument.size // 2 < field.nbytes <= argument.size  # a vector's size is rounded up
    assert (
        ArgumentPacker([str(i) for i in range(len(types))], types).nbytes <= metadata.kernarg_size
    )
