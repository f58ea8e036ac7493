"""Random numbers: functions of the host that make the states of generators, and functions that
kernels call.

xoroshiro128+ has the names and results of `numba.cuda.random`.
"""

from amdjit.algorithms.random_states import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_states,
    xoroshiro128p_dtype,
)
from amdjit.intrinsics.random import (
    normal_pair_float32,
    normal_pair_float64,
    philox4x32,
    philox4x64,
    uniform_float32,
    uniform_float64,
    xoroshiro128p_jump,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "normal_pair_float32",
    "normal_pair_float64",
    "philox4x32",
    "philox4x64",
    "uniform_float32",
    "uniform_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]
