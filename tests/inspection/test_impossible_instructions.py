"""Machine code that its processor does not have is found, and no other; kernels are refused for
it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import amdjit
from amdjit import backend, f32, i32
from amdjit.code_object.elf import read_elf
from amdjit.inspection.impossible import impossible_instruction
from amdjit.intrinsics import wave
from amdjit.intrinsics.asm import instruction
from amdjit.isa.decode import decode
from amdjit.isa.errors import UndecodableInstruction
from amdjit.isa.instruction_set import instruction_set_of
from amdjit.target import EMULATED, TARGETS, Target

# What LLVM 22 makes for gfx12: a v_mad_co_u64_u32 with DPP.
MERGED = bytes.fromhex("007cfed6fa060604004009ff")
REFUSED = "LLVM makes an instruction"


@amdjit.kernel(warnings=False)
def reduced(x, out):
    t = amdjit.threadIdx.x
    out[t] = wave.reduce(x[t])


def spoilt(code_object: bytes) -> bytes:
    """Return a code object whose last instruction but one, and those after it, are another one."""
    section = read_elf(code_object).section(".text")
    assert section is not None
    code = code_object[section.offset : section.offset + section.size]
    place = section.offset + code.index(bytes.fromhex("0000b0bf")) - len(MERGED)
    return code_object[:place] + MERGED + code_object[place + len(MERGED) :]


@pytest.mark.covering(1)
@pytest.mark.parametrize("target", EMULATED, ids=str)
@pytest.mark.parametrize("level", [0, 3])
def test_kernels_have_instructions_of_their_processor(target: Target, level: int) -> None:
    kernel = amdjit.kernel(opt_level=level, warnings=False)(reduced.function)
    code = kernel.compile(f32[:], f32[:], target=target.name).code_object
    assert impossible_instruction(code, target, target.wave_size) is None


def test_an_instruction_that_the_processor_lacks_is_found_with_its_line() -> None:
    kernel = reduced.compile(i32[:], i32[:], target="gfx1201")
    found = impossible_instruction(spoilt(kernel.code_object), kernel.target, 32)
    assert found is not None
    line = inspect.getsourcelines(reduced.function)[1] + 3
    assert found.place == (__file__, line)
    text = str(found)
    assert f"{REFUSED} for {__file__}:{line} that gfx1201 does not have" in text
    assert "v_mad_co_u64_u32 takes no DPP16" in text
    assert "D6FE7C00 040606FA FF094000" in text
    assert "out[t] = wave.reduce(x[t])" in text


def test_functions_that_are_not_inlined_are_looked_at_too() -> None:
    @amdjit.device_function(inline=False)
    def far(x):
        return wave.row_mirror(x)

    def kernel(x, out):
        out[amdjit.threadIdx.x] = far(x[amdjit.threadIdx.x])

    code = amdjit.kernel(warnings=False)(kernel).compile(i32[:], i32[:], target="gfx1201")
    data = code.code_object
    place = next(symbol for symbol in code.linked.symbols if "far" in symbol.name)
    section = read_elf(data).section(".text")
    assert section is not None
    start = section.offset + place.address - section.address
    found = impossible_instruction(
        data[:start] + b"\xff" * 4 + data[start + 4 :], code.target, code.options.wave_size
    )
    assert found is not None
    assert found.found.pc == place.address


def test_code_of_processors_that_are_not_decoded_is_not_looked_at() -> None:
    for target in TARGETS:
        if not target.is_emulated:
            code = reduced.compile(i32[:], i32[:], target=target.name).code_object
            assert impossible_instruction(code, target, target.wave_size) is None


@pytest.fixture
def spoiling(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let the linker spoil as many code objects as the first item says; the second counts all."""
    state, link = [0, 0], backend.link

    def spoil(*arguments: Any) -> bytes:
        linked = link(*arguments)
        state[1] += 1
        return spoilt(linked) if state[1] <= state[0] else linked

    monkeypatch.setattr(backend, "link", spoil)
    monkeypatch.setenv("AMDJIT_CACHE_DIR", "")
    return state


def doubled(x, out):
    out[amdjit.threadIdx.x] = x[amdjit.threadIdx.x] * 2


def compiled() -> Any:
    return amdjit.kernel(warnings=False)(doubled).compile(i32[:], i32[:], target="gfx1201")


def test_a_kernel_is_refused_for_an_instruction_that_its_processor_lacks(
    spoiling: list[int],
) -> None:
    spoiling[0] = 2
    with pytest.raises(amdjit.BackendError, match=REFUSED) as refused:
        compiled()
    assert f"{__file__}:" in str(refused.value)
    assert "out[amdjit.threadIdx.x] = x[amdjit.threadIdx.x] * 2" in str(refused.value)
    assert "opt_level" in str(refused.value)


def test_moves_are_kept_apart_before_a_kernel_is_refused(spoiling: list[int]) -> None:
    spoiling[0] = 1
    code = compiled()
    assert impossible_instruction(code.code_object, code.target, 32) is None
    assert spoiling[1] == 2


def test_data_that_a_kernel_has_as_assembly_text_is_not_refused() -> None:
    @instruction("s_branch 1\n.long 0xffffffff\nv_mov_b32 {result}, {x}")
    def skip_data(x: i32) -> i32:
        return x

    def kernel(x, out):
        out[amdjit.threadIdx.x] = skip_data(x[amdjit.threadIdx.x])

    code = amdjit.kernel(warnings=False)(kernel).compile(i32[:], i32[:], target="gfx1201")
    assert impossible_instruction(code.code_object, code.target, 32) is not None


@pytest.mark.parametrize(
    ("processor", "code", "size"),
    [
        ("gfx1100", "090f00f00400000005060000", 12),
        ("gfx1100", "080f00f004000000", 8),
        ("gfx1100", "0f0000f800000000", 8),
        ("gfx1201", "0200c0d30000000004050600", 12),
        ("gfx1201", "0f0000f800000000", 8),
        ("gfx908", "0f0000c400000000", 8),
        ("gfx908", "000000d4", 4),
        ("gfx1201", "ffffffff", 0),
    ],
)
def test_classes_that_are_not_decoded_have_a_size(processor: str, code: str, size: int) -> None:
    sets = instruction_set_of(processor)
    assert sets is not None
    with pytest.raises(UndecodableInstruction) as found:
        decode(bytes.fromhex(code) + bytes(4), 0, 0, 32, sets)
    assert found.value.size == size
