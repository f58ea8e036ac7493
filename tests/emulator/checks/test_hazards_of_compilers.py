"""Code of clang and llc lacks nothing; without what LLVM's hazard recogniser puts in, that is
missing, or was spare."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from amdjit.backend.linking.plain import link_plain
from amdjit.code_object import CodeObject
from amdjit.emulator.checks.waits.code_object import find_missing_waits
from amdjit.emulator.checks.waits.marks import is_pause
from amdjit.inspection.hazards import hazards
from amdjit.isa.analysis.kernel_code import instruction_set_in
from amdjit.isa.decode import decode_all
from amdjit.isa.instruction import Instruction
from amdjit.isa.text import disassemble
from tests.emulator.building import COMPILER, TARGET_FLAGS, compile_source, using
from tests.emulator.random_programs import Program
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

_CDNA = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")
_ALL = (*_CDNA, "gfx1100", "gfx1150", "gfx1200", "gfx1201")
_WAVE64 = "-mwavefrontsize64"

# What LLVM waits for on gfx9: DPP, lanes, divisions, masks, wide stores, transcendental functions,
# dot and packed products.
SOURCE = """
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void
#define I __builtin_amdgcn_workitem_id_x()
typedef float f4 __attribute__((ext_vector_type(4)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
KERNEL lanes(GLOBAL int *a, GLOBAL int *b) {
  int x = a[I], lane = __builtin_amdgcn_readfirstlane(b[I]);
  int y = __builtin_amdgcn_readlane(x, __builtin_amdgcn_readfirstlane(x + lane) & 31);
  int z = __builtin_amdgcn_update_dpp(x, x + y, 0x101, 15, 15, 0);
  a[I] = y + z; }
KERNEL quotients(GLOBAL float *a, GLOBAL float *b, GLOBAL double *c) {
  a[I] = a[I] / b[I] + __builtin_amdgcn_rcpf(b[I]) * 3;
  c[I] = c[I] / (c[I + 1] + 2); }
KERNEL wide(GLOBAL f4 *a, GLOBAL f4 *b, int n) {
  f4 sum = a[I];
  for (int k = 0; k < n; k++) { b[I + k] = sum; sum = sum * a[k] + b[k]; if (sum.x > 3) sum.y = 1; }
  a[I] = sum; }
KERNEL branches(GLOBAL int *a, int n) {
  int s = __builtin_amdgcn_readfirstlane(a[I]);
  if (a[I] > s) { a[I + s] = n; } else if (a[I] * n < s) { a[I - s] = s; }
  while (a[I] > n) { a[I] -= s; if (a[I] & 1) s = __builtin_amdgcn_readfirstlane(s + a[I]); } }
KERNEL powers(GLOBAL float *a) {
  float x = __builtin_amdgcn_exp2f(a[I]);
  a[I] = __builtin_amdgcn_sinf(x + 1) * __builtin_amdgcn_logf(x) + __builtin_amdgcn_sqrtf(x); }
"""
_PRODUCTS = """
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
KERNEL products(GLOBAL f4 *o, GLOBAL h4 *a, GLOBAL float *b) {
  f4 c = o[I];
  for (int k = 0; k < 9; k++) {
    c = __builtin_amdgcn_mfma_f32_4x4x4f16(a[I + k], a[I], c, 0, 0, 0);
    c = __builtin_amdgcn_mfma_f32_16x16x4f32(c.x, b[k], c, 0, 0, 0); }
  o[I] = c * c; }
"""


def source_for(cpu: str) -> str:
    return SOURCE + _PRODUCTS * (cpu in _CDNA[1:])


def assembly(cpu: str, *flags: str) -> str:
    command = [
        COMPILER,
        *TARGET_FLAGS,
        f"-mcpu={cpu}",
        "-O2",
        *flags,
        "-S",
        "-x",
        "c",
        "-",
        "-o",
        "-",
    ]
    done = subprocess.run(
        command, input=source_for(cpu), capture_output=True, text=True, check=True
    )
    return done.stdout


def assembled(text: str, cpu: str, folder: Path, *flags: str) -> bytes:
    item = folder / "code.o"
    attributes = [f"-mattr=+wavefrontsize{64 if _WAVE64 in flags or cpu in _CDNA else 32}"]
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={cpu}", *attributes]
    subprocess.run([*command, "-filetype=obj", "-o", str(item)], input=text, text=True, check=True)
    return link_plain(item.read_bytes())


def instructions(code: bytes) -> list[Instruction]:
    whole = CodeObject.read(code)
    found: list[Instruction] = []
    for kernel in sorted(whole.kernels.values(), key=lambda one: one.entry_address):
        wave_size, sets = kernel.descriptor.wave_size, instruction_set_in(whole)
        found += decode_all(whole.code(kernel), kernel.entry_address, wave_size, sets)
    return found


_WIDE = [(cpu, (_WAVE64,)) for cpu in ("gfx1100", "gfx1150", "gfx1201")]


@pytest.mark.parametrize(("cpu", "flags"), [*((cpu, ()) for cpu in _ALL), *_WIDE])
def test_compiled_code_lacks_nothing(cpu: str, flags: tuple[str, ...]) -> None:
    with using(cpu=cpu):
        found = hazards(compile_source(source_for(cpu), "-O2", *flags))
    assert found.proved, str(found)
    assert len(found.kernels) >= 5


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cpu", _ALL)
def test_random_programs_lack_nothing(cpu: str, seed: int) -> None:
    with using(cpu=cpu):
        found = hazards(compile_source(Program(seed).source, "-O1"))
    assert found.proved, str(found)


# A wait, s_nop or v_nop in assembly text.
_PAUSE = re.compile(r"\s+(s_nop|v_nop|s_wait\w*)\b")


@pytest.mark.sample(4)
@pytest.mark.parametrize("cpu", [*_CDNA, "gfx1100 wave64", "gfx1100", "gfx1201", "gfx1201 wave64"])
def test_each_pause_that_llvm_inserts_is_needed_or_spare(cpu: str, tmp_path: Path) -> None:
    cpu, _, wide = cpu.partition(" ")
    flags = (_WAVE64,) * bool(wide)
    text = assembly(cpu, *flags)
    code = assembled(text, cpu, tmp_path, *flags)
    spare = {one.address: one.needed for one in hazards(code).spare}
    lines = text.splitlines()
    places = [number for number, line in enumerate(lines) if _PAUSE.match(line)]
    pauses = [one for one in instructions(code) if is_pause(one)]
    assert len(places) == len(pauses)
    chosen = random.Random(cpu).sample(range(len(places)), min(12, len(places)))
    needed = 0
    for which in chosen:
        pause, line = pauses[which], lines[places[which]]
        shorter = [*lines[: places[which]], *lines[places[which] + 1 :]]
        found = find_missing_waits(assembled("\n".join(shorter), cpu, tmp_path, *flags))
        needed += bool(found)
        is_spare = pause.pc in spare and not spare[pause.pc]
        assert bool(found) != is_spare, (line, disassemble(pause), hex(pause.pc))
    assert needed
    # All spare ones may go at once.
    gone = {places[n] for n, one in enumerate(pauses) if spare.get(one.pc) == 0}
    left = [line for number, line in enumerate(lines) if number not in gone]
    assert find_missing_waits(assembled("\n".join(left), cpu, tmp_path, *flags)) == ()


@pytest.mark.sample(2)
@pytest.mark.parametrize("cpu", _CDNA)
def test_all_that_the_recogniser_inserts_is_missing_without_it(cpu: str, tmp_path: Path) -> None:
    """llc without the pass that looks for hazards: each instruction before which the pass puts an
    s_nop comes too soon."""
    command = [COMPILER, *TARGET_FLAGS, f"-mcpu={cpu}", "-O2", "-emit-llvm", "-S", "-x", "c", "-"]
    ir = subprocess.run(
        [*command, "-o", "-"], input=source_for(cpu), capture_output=True, text=True, check=True
    ).stdout
    recogniser = "post-RA-hazard-rec"
    llc = ["llc-22", "-O2", f"-mcpu={cpu}", "-o", "-"]
    full = subprocess.run(llc, input=ir, capture_output=True, text=True, check=True).stdout
    before = subprocess.run(
        [*llc, f"-stop-before={recogniser}"], input=ir, capture_output=True, text=True, check=True
    ).stdout
    stripped = subprocess.run(
        [*llc, f"-start-after={recogniser}", "-x", "mir"],
        input=before,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    whole = instructions(assembled(full, cpu, tmp_path))
    code = assembled(stripped, cpu, tmp_path)
    left = instructions(code)
    late = set()
    number = 0
    for last, one in zip([None, *whole], whole, strict=False):
        if one.mnemonic != left[number].mnemonic:
            assert one.mnemonic == "s_nop"
            continue
        if last is not None and last.mnemonic == "s_nop":
            late.add(left[number].pc)
        number += 1
    assert number == len(left)
    found = {one.wait.pc for one in find_missing_waits(code)}
    packed = {
        pc for pc in late - found if cpu in ("gfx942", "gfx950") and _follows_packed(left, pc)
    }
    assert late - found == packed
    assert len(late) >= 2


def _follows_packed(code: list[Instruction], pc: int) -> bool:
    """LLVM takes op_sel_hi of packed instructions for a moved result."""
    number = next(number for number, one in enumerate(code) if one.pc == pc)
    return code[number - 1].mnemonic.startswith(("v_pk_", "v_dot"))
