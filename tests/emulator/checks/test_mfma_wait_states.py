"""Results of MFMA that are used too early: found with one wait state too few, not with enough, and
in nothing that clang makes."""

from __future__ import annotations

import struct

import pytest

from amdjit.emulator.checks.waits.code_object import find_missing_waits
from tests.emulator.building import assemble, compile_source, using
from tests.emulator.checks.code_listing import listing
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

_PRODUCTS = {
    "f16 4": "v_mfma_f32_4x4x4f16 v[{d}:{d}+3], v[120:121], v[124:125], v[{c}:{c}+3]",
    "f16 16": "v_mfma_f32_16x16x16f16 v[{d}:{d}+3], v[120:121], v[124:125], v[{c}:{c}+3]",
    "f16 32": "v_mfma_f32_32x32x8f16 v[{d}:{d}+15], v[120:121], v[124:125], v[{c}:{c}+15]",
    "f16 32, 2 blocks": "v_mfma_f32_32x32x4f16 v[{d}:{d}+31], v[120:121], v[124:125], "
    "v[{c}:{c}+31]",
    "f32 16": "v_mfma_f32_16x16x4f32 v[{d}:{d}+3], v120, v124, v[{c}:{c}+3]",
    "f64 4": "v_mfma_f64_4x4x4f64 v[{d}:{d}+1], v[120:121], v[124:125], v[{c}:{c}+1]",
    "f64 16": "v_mfma_f64_16x16x4f64 v[{d}:{d}+7], v[120:121], v[124:125], v[{c}:{c}+7]",
}
_FIRST = {"d": 0, "c": 64}
_READ, _SENT = "v_mov_b32 v200, v2", "global_store_dword v[200:201], v0, off"
_OVERWRITTEN, _LOADED = "v_mov_b32 v0, 0", "global_load_dword v0, v[200:201], off"
_FACTOR = "v_mfma_f32_16x16x16f16 v[160:163], v[0:1], v[124:125], v[64:67]"

# Wait states that LLVM 22 inserts between a product and a use of its result (llc,
# post-RA-hazard-rec), for gfx90a, gfx942 and gfx950. "=": C of another product is the result; "+":
# begins two registers later.
ROWS = {
    ("f16 4", _READ): (5, 5, 5),
    ("f16 16", _READ): (11, 7, 8),
    ("f16 32", _READ): (19, 11, 12),
    ("f16 32, 2 blocks", _READ): (19, 19, 20),
    ("f32 16", _READ): (11, 10, 10),
    ("f64 4", "v_mov_b32 v200, v1"): (6, 6, 6),
    ("f64 16", _READ): (11, 11, 19),
    ("f16 16", _SENT): (11, 7, 8),
    ("f64 4", _SENT): (9, 9, 9),
    ("f64 16", _SENT): (18, 18, 18),
    ("f16 32", _OVERWRITTEN): (19, 11, 12),
    ("f32 16", _LOADED): (11, 10, 10),
    ("f64 16", _OVERWRITTEN): (11, 11, 11),
    ("f16 16", _FACTOR): (11, 7, 8),
    ("f32 16", _FACTOR): (11, 10, 10),
    ("f64 16", _FACTOR): (11, 11, 19),
    ("f16 4", "= f16 4"): (0, 2, 2),
    ("f16 16", "= f16 16"): (0, 0, 0),
    ("f32 16", "= f32 16"): (0, 0, 0),
    ("f64 4", "= f64 4"): (4, 4, 4),
    ("f64 16", "= f64 16"): (0, 0, 0),
    ("f16 16", "+ f16 16"): (8, 5, 6),
    ("f16 4", "+ f16 16"): (2, 3, 4),
    ("f16 16", "+ f64 4"): (9, 5, 6),
    ("f32 16", "+ f16 16"): (8, 0, 0),
    ("f32 16", "+ f32 16"): (8, 8, 8),
    ("f64 16", "+ f64 16"): (9, 9, 17),
    ("f64 16", "+ f16 16"): (0, 0, 0),
}


def product(name: str, d: int, c: int) -> str:
    return _PRODUCTS[name].format(d=d, c=c)


def use_of(text: str) -> str:
    if text[0] in "=+":
        return product(text[2:], 160, 0 if text[0] == "=" else 2)
    return text


@pytest.mark.sample(1)
@pytest.mark.parametrize("place", range(3), ids=("gfx90a", "gfx942", "gfx950"))
def test_each_use_needs_its_wait_states(place: int) -> None:
    cpu = ("gfx90a", "gfx942", "gfx950")[place]
    for (name, use), needed in ROWS.items():
        states = needed[place]
        first = product(name, **_FIRST)
        enough = f"{first}\n" + "s_nop 0\n" * states + use_of(use)
        assert find_missing_waits(assemble(enough, cpu=cpu)) == (), (name, use)
        if states:
            few = f"{first}\n" + "s_nop 0\n" * (states - 1) + use_of(use)
            (found,) = find_missing_waits(assemble(few, cpu=cpu))
            assert found.wait.wait == "s_nop 0", (name, use)
            assert found.wait.load_text.startswith("v_mfma"), (name, use)
            assert found.wait.overwrites == (use in (_OVERWRITTEN, _LOADED)), (name, use)


def test_sentences_name_the_wait_states_that_are_missing() -> None:
    code = assemble(f"{product('f16 32', **_FIRST)}\n s_nop 2\n {_READ}", cpu="gfx942")
    (found,) = find_missing_waits(code)
    assert found.wait.message == (
        "v2 is read while v_mfma_f32_32x32x8_f16 v[0:15], v[120:121], v[124:125], v[64:79] may "
        "still be writing it: s_nop 7 is missing"
    )
    code = assemble(f"{product('f64 16', **_FIRST)}\n {_READ}", cpu="gfx950")
    (found,) = find_missing_waits(code)
    assert found.wait.wait == "s_nop 15 and s_nop 2"


# What runs on the way, and whether the result of f16 32x32x8 (11 wait states on gfx942) is late.
PATHS = {
    # Any instruction is a wait state, whatever it does.
    "v_mov_b32 v100, 0\n s_mov_b32 s4, 0\n s_waitcnt vmcnt(0)\n s_nop 7": False,
    "v_mov_b32 v100, 0\n s_mov_b32 s4, 0\n s_waitcnt vmcnt(0)\n s_nop 6": True,
    # Of two paths, the shorter one counts.
    "s_cbranch_scc0 1f\n s_nop 15\n 1: s_nop 8": True,
    "s_cbranch_scc0 1f\n s_nop 15\n 1: s_nop 9": False,
    # A product in between that overwrites the register.
    "v_mfma_f32_4x4x4f16 v[0:3], v[120:121], v[124:125], v[64:67]\n s_nop 4": False,
    "v_mfma_f32_4x4x4f16 v[0:3], v[120:121], v[124:125], v[64:67]\n s_nop 3": True,
}


@pytest.mark.parametrize("between", PATHS)
def test_what_is_on_the_way_counts(between: str) -> None:
    body = f"{product('f16 32', **_FIRST)}\n {between}\n {_READ}"
    found = find_missing_waits(assemble(body, cpu="gfx942"))
    assert bool(found) == PATHS[between]


def test_a_loop_uses_what_its_end_computes() -> None:
    body = f"1: {_READ}\n s_nop 3\n {product('f16 16', **_FIRST)}\n s_nop {{n}}\n s_cbranch_scc1 1b"
    assert find_missing_waits(assemble(body.format(n=5), cpu="gfx942")) == ()
    (found,) = find_missing_waits(assemble(body.format(n=4), cpu="gfx942"))
    assert found.wait.text == "v_mov_b32_e32 v200, v2"


def test_accumulators_of_gfx908() -> None:
    """`v_accvgpr_read` needs the passes and 2, here of 8."""
    body = "v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[4:7]\n s_nop {n}\n v_accvgpr_read_b32 v2, a1"
    assert find_missing_waits(assemble(body.format(n=9), cpu="gfx908")) == ()
    (found,) = find_missing_waits(assemble(body.format(n=8), cpu="gfx908"))
    assert found.wait.register == "a1"


_SOURCE = """
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16x __attribute__((ext_vector_type(16)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel)) void
#define I __builtin_amdgcn_workitem_id_x()
KERNEL large(GLOBAL f16x *o, GLOBAL h4 *a) {
  o[I] = __builtin_amdgcn_mfma_f32_32x32x8f16(a[I], a[I + 64], o[I], 0, 0, 0); }
KERNEL chain(GLOBAL f4 *o, GLOBAL h4 *a) {
  f4 c = o[I];
  for (int k = 0; k < 9; k++) {
    c = __builtin_amdgcn_mfma_f32_4x4x4f16(a[I + k], a[I], c, 0, 0, 0);
    c = __builtin_amdgcn_mfma_f32_16x16x4f32(c.x, c.y, c, 0, 0, 0); }
  o[I] = c * c; }
KERNEL wide(GLOBAL d4 *o, GLOBAL double *a) {
  d4 c = __builtin_amdgcn_mfma_f64_16x16x4f64(a[I], a[I], o[I], 0, 0, 0);
  c.x = __builtin_amdgcn_mfma_f64_4x4x4f64(c.x, c.y, c.z, 0, 0, 0);
  o[I] = c; }
"""


@pytest.mark.parametrize("cpu", ["gfx90a", "gfx942", "gfx950"])
def test_each_wait_state_that_clang_inserts_is_needed(cpu: str) -> None:
    with using(cpu=cpu):
        code = compile_source(_SOURCE, "-O2")
    assert find_missing_waits(code) == ()
    shortened = 0
    for pc, step in listing(code).items():
        if step.text.startswith("s_nop ") and step.text != "s_nop 0":
            states = int(step.text.split()[1])
            assert find_missing_waits(_with_nop(code, pc, states - 1)), hex(pc)
            shortened += 1
    assert shortened >= 6


def _with_nop(code: bytes, pc: int, states: int) -> bytes:
    """Put another s_nop in the place of the one at `pc`: clang puts code at its address less
    0x1000."""
    place = pc - 0x1000
    assert code[place + 2 : place + 4] == b"\x80\xbf"
    return code[:place] + struct.pack("<H", states) + code[place + 2 :]
