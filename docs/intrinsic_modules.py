"""The modules that the page of intrinsics goes through, in its order."""

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
    error_functions,
    exponentials,
    gamma_functions,
    hyperbolic,
    integer_arithmetic,
    lds,
    memory,
    native_math,
    power,
    roots_and_remainders,
    sync,
    trigonometry,
    wave,
    wave_dpp,
    wave_reduce,
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
    (wave_reduce, "amdjit.intrinsics.wave"),
    (wave_dpp, "amdjit.intrinsics.wave"),
    (atomic, "amdjit.atomic"),
    (memory, "amdjit.intrinsics.memory"),
    (arithmetic, "amdjit.intrinsics.arithmetic"),
    (integer_arithmetic, "amdjit.intrinsics.arithmetic"),
    (native_math, "amdjit.intrinsics.math"),
    (exponentials, "amdjit.intrinsics.math"),
    (trigonometry, "amdjit.intrinsics.math"),
    (hyperbolic, "amdjit.intrinsics.math"),
    (error_functions, "amdjit.intrinsics.math"),
    (gamma_functions, "amdjit.intrinsics.math"),
    (roots_and_remainders, "amdjit.intrinsics.math"),
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
