"""The modules on the page of intrinsics, in its order."""

from __future__ import annotations

from types import ModuleType

from amdjit.intrinsics import (
    atomic,
    block,
    cache_hints,
    convert,
    cooperative_groups,
    lds,
    memory,
    random,
    sync,
    wave,
    workitem,
)
from amdjit.intrinsics.builtins import numbers, wmma
from amdjit.intrinsics.builtins import wave as amdgcn_wave
from amdjit.intrinsics.lanes import dpp, reduce
from amdjit.intrinsics.maths import (
    device_library,
    elementwise,
    error_and_gamma,
    exponentials,
    hyperbolic,
    native_math,
    number_theory,
    power,
    roots_and_remainders,
    rounding,
    trigonometry,
)
from amdjit.intrinsics.matrix import fragments, sparse
from amdjit.intrinsics.matrix.multiply import instructions
from amdjit.intrinsics.matrix.operands import coordinates
from amdjit.intrinsics.matrix.views import cooperation, transforms
from amdjit.intrinsics.numbers import dots, floats, integers

# How each module is imported in a kernel's file.
MODULES: tuple[tuple[ModuleType, str], ...] = (
    (workitem, "amdjit"),
    (sync, "amdjit.intrinsics.sync"),
    (lds, "amdjit"),
    (wave, "amdjit.intrinsics.wave"),
    (reduce, "amdjit.intrinsics.wave"),
    (dpp, "amdjit.intrinsics.wave"),
    (block, "amdjit.block"),
    (cooperative_groups, "amdjit.cooperative_groups"),
    (atomic, "amdjit.atomic"),
    (memory, "amdjit.intrinsics.memory"),
    (cache_hints, "amdjit.intrinsics.cache_hints"),
    (integers, "amdjit.intrinsics.arithmetic"),
    (floats, "amdjit.intrinsics.arithmetic"),
    (dots, "amdjit.intrinsics.arithmetic"),
    (native_math, "amdjit.intrinsics.math"),
    (exponentials, "amdjit.intrinsics.math"),
    (trigonometry, "amdjit.intrinsics.math"),
    (hyperbolic, "amdjit.intrinsics.math"),
    (error_and_gamma, "amdjit.intrinsics.math"),
    (roots_and_remainders, "amdjit.intrinsics.math"),
    (elementwise, "amdjit.intrinsics.math"),
    (rounding, "amdjit.intrinsics.math"),
    (number_theory, "amdjit.intrinsics.math"),
    (power, "amdjit.intrinsics.math"),
    (device_library, "amdjit.intrinsics.maths.device_library"),
    (random, "amdjit.random"),
    (convert, "amdjit.intrinsics.convert"),
    (amdgcn_wave, "amdjit.intrinsics.amdgcn"),
    (numbers, "amdjit.intrinsics.amdgcn"),
    (wmma, "amdjit.intrinsics.amdgcn"),
    (instructions, "amdjit.intrinsics.matrix"),
    (fragments, "amdjit.intrinsics.matrix"),
    (cooperation, "amdjit.intrinsics.matrix"),
    (sparse, "amdjit.intrinsics.matrix"),
    (transforms, "amdjit.intrinsics.matrix"),
    (coordinates, "amdjit.intrinsics.matrix"),
)
