"""Kernels of one matrix instruction each, whose operands the host has packed, to test the layouts
with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import amdjit
from amdjit import threadIdx
from amdjit.intrinsics import amdgcn, matrix

# Each pair of flags in all four ways: a_signed, b_signed, clamp.
FLAGS = ((True, True, False), (False, False, False), (False, True, True), (True, False, True))


def held(words, registers, type):
    """Return what the lane's registers hold."""
    if registers == 1:
        return amdjit.bitcast(words[threadIdx.x], type)
    return amdjit.bitcast(words.load(registers * threadIdx.x, registers), type)


def store(words, first, registers, value):
    """Write the lane's registers."""
    if registers == 1:
        words[first + threadIdx.x] = amdjit.bitcast(value, amdjit.i32)
    else:
        words.store(
            first + registers * threadIdx.x,
            amdjit.bitcast(value, amdjit.vector(amdjit.i32, registers)),
        )


@cache
def kernel_of(name: str) -> Any:
    """Return a kernel of an instruction: (a, b, c, index, d), each the i32 registers of the wave.

    Where the instruction multiplies integers, it writes one D for each of FLAGS.
    """
    instruction = matrix.matrix_instruction(name)
    builtin = getattr(amdgcn, name)
    values = [parameter.type for parameter in builtin.parameters if parameter.immediate is None]
    a_type, b_type, c_type = (getattr(type, "constraints", (type,))[0] for type in values[:3])
    a_size, b_size, c_size = (instruction.layout(operand).registers for operand in "abc")
    integers, sparse, lanes = instruction.is_integer, instruction.is_sparse, instruction.wave_size

    @amdjit.kernel(block=lanes, wave_size=lanes)
    def kernel(a, b, c, index, d):
        left, right, added = (
            held(a, a_size, a_type),
            held(b, b_size, b_type),
            held(c, c_size, c_type),
        )
        if not integers:
            if sparse:
                store(d, 0, c_size, builtin(left, right, added, index[threadIdx.x]))
            else:
                store(d, 0, c_size, builtin(left, right, added))
        else:
            for number, (a_signed, b_signed, clamp) in enumerate(FLAGS):
                if sparse:
                    result = builtin(
                        a_signed, left, b_signed, right, added, index[threadIdx.x], clamp
                    )
                else:
                    result = builtin(a_signed, left, b_signed, right, added, clamp)
                store(d, number * lanes * c_size, c_size, result)

    return kernel


def run(
    name: str, a: Any, b: Any, c: Any, index: Any = None, flags: tuple[bool, bool, bool] = FLAGS[0]
) -> Any:
    """Return D of whole matrices, computed by the instruction on the emulator.

    Sparse products: `a` and `index` as `compress_2to4` gives them.
    """
    instruction = matrix.matrix_instruction(name)
    operands = {"a": a, "b": b, "c": c}
    words = [
        _flat(matrix.pack(instruction.layout(operand), value))
        for operand, value in operands.items()
    ]
    places = np.zeros(instruction.wave_size, np.int32)
    if index is not None:
        places = _flat(matrix.pack(instruction.layout("index"), index))
    results = np.zeros((len(FLAGS), *words[2].shape), np.int32)
    with amdjit.use("emulator:gfx1201"):
        kernel_of(name)[1, instruction.wave_size](*words, places, results.reshape(-1))
    return matrix.unpack(instruction.layout("d"), results[FLAGS.index(flags)])


def _flat(registers: Any) -> Any:
    return registers.reshape(-1).view(np.int32)
