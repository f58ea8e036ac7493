"""The modules that declare what kernels call, and where each is met: docs/reference/intrinsics.md is made of them."""

from __future__ import annotations

from types import ModuleType

from amdjit.intrinsics import (
    amdgcn_integer,
    amdgcn_math,
    amdgcn_wave,
    arithmetic,
    atomic,
    convert,
    device_library,
    elementwise,
    error_functions,
    exponentials,
    gamma_functions,
    hyperbolic,
    lds,
    lengths,
    memory,
    native_math,
    number_theory,
    power,
    roots_and_remainders,
    sync,
    trigonometry,
    wave,
    wmma,
    wmma_gfx11,
    workitem,
)
from amdjit.intrinsics.matrix import cooperation, coordinates, fragments, instructions, sparse, transforms

# How each module is imported in a kernel's file.
MODULES: tuple[tuple[ModuleType, str], ...] = (
    (workitem, "amdjit"),
    (sync, "amdjit.intrinsics.sync"),
    (lds, "amdjit"),
    (wave, "amdjit.intrinsics.wave"),
    (atomic, "amdjit.atomic"),
    (memory, "amdjit.intrinsics.memory"),
    (arithmetic, "amdjit.intrinsics.arithmetic"),
    (native_math, "amdjit.intrinsics.math"),
    (exponentials, "amdjit.intrinsics.math"),
    (trigonometry, "amdjit.intrinsics.math"),
    (hyperbolic, "amdjit.intrinsics.math"),
    (error_functions, "amdjit.intrinsics.math"),
    (gamma_functions, "amdjit.intrinsics.math"),
    (roots_and_remainders, "amdjit.intrinsics.math"),
    (lengths, "amdjit.intrinsics.math"),
    (elementwise, "amdjit.intrinsics.math"),
    (number_theory, "amdjit.intrinsics.math"),
    (power, "amdjit.intrinsics.math"),
    (device_library, "amdjit.intrinsics.device_library"),
    (convert, "amdjit.intrinsics.convert"),
    (amdgcn_wave, "amdjit.intrinsics.amdgcn"),
    (amdgcn_math, "amdjit.intrinsics.amdgcn"),
    (amdgcn_integer, "amdjit.intrinsics.amdgcn"),
    (wmma, "amdjit.intrinsics.amdgcn"),
    (wmma_gfx11, "amdjit.intrinsics.amdgcn"),
    (instructions, "amdjit.intrinsics.matrix"),
    (fragments, "amdjit.intrinsics.matrix"),
    (cooperation, "amdjit.intrinsics.matrix"),
    (sparse, "amdjit.intrinsics.matrix"),
    (transforms, "amdjit.intrinsics.matrix"),
    (coordinates, "amdjit.intrinsics.matrix"),
)
