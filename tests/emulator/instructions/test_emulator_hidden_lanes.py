"""Values of inactive lanes count only where they are read: random changes of EXEC against a model
in NumPy."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from amdjit.code_object import CodeObject
from amdjit.emulator.tiers.full import translate_wave
from amdjit.isa.analysis.control_flow import build_graph
from amdjit.isa.analysis.kernel_code import kernel_text
from tests.emulator.building import KERNELS, assemble, compile_source
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

LANES = 32
VECTORS, MASKS = 6, 3
Item = tuple[str, tuple[int, ...]]

# By their names: the text of an instruction, of registers v1..v6, masks s10..s12 and a constant.
TEXTS = {
    "add": "v_add_nc_u32 v{}, v{}, v{}",
    "move": "v_mov_b32 v{}, v{}",
    "wide": "v_lshlrev_b64 v[{0}:{1}], 5, v[{2}:{3}]",
    "dual": "v_dual_mov_b32 v5, v1 :: v_dual_add_nc_u32 v4, v2, v5",
    "half": "v_add_nc_u16 v{0}.h, v{1}.l, v{2}.h",
    "compare": "v_cmp_lt_u32_e64 s1{}, v{}, v{}",
    "narrow": "v_cmpx_lt_u32 v{}, v{}",
    "and": "s_and_saveexec_b32 s1{}, s1{}",
    "or": "s_or_b32 exec_lo, exec_lo, s1{}",
    "less": "s_and_not1_b32 exec_lo, exec_lo, s1{}",
    "else": "s_or_saveexec_b32 s1{}, s1{}",
    "flip": "s_xor_b32 exec_lo, exec_lo, s1{}",
    "set": "s_mov_b32 exec_lo, {:#x}",
    "lane": "v_readlane_b32 s14, v{1}, {3}\n  v_add_nc_u32 v{0}, s14, v{2}",
    "put": "v_writelane_b32 v{}, 77, {}",
    "dpp": "v_mov_b32_dpp v{}, v{} row_xmask:5 row_mask:0xf bank_mask:0xf fi:1",
    "permute": "v_mov_b32 v100, {2}\n  ds_bpermute_fi_b32 v{0}, v100, v{1}\n  s_wait_dscnt 0x0",
}
EXEC_CHANGES = ["narrow", "and", "or", "less", "else", "flip", "set"]


def items(source: random.Random, count: int) -> Iterator[Item]:
    for _ in range(count):
        name = source.choice(
            ["add", "move", "move", "wide", "half", "half", "compare", "set", *TEXTS]
        )
        vectors = [source.randint(1, VECTORS) for _ in range(3)]
        pair = [source.choice((1, 2, 3, 5)) for _ in range(2)]
        masks = [source.randrange(MASKS) for _ in range(2)]
        yield (
            name,
            {
                "wide": (pair[0], pair[0] + 1, pair[1], pair[1] + 1),
                "compare": (masks[0], *vectors[:2]),
                "narrow": tuple(vectors[:2]),
                "set": (source.choice((source.getrandbits(32) | 1, 0xFFFFFFFF)),),
                "lane": (*vectors, source.randrange(LANES)),
                "put": (vectors[0], source.randrange(LANES)),
                "permute": (*vectors[:2], 4 * source.randrange(16)),
            }.get(name, tuple(masks) if name in EXEC_CHANGES else tuple(vectors)),
        )


class Model:
    """The wave: `v` has a row for each vector register, `masks` the scalar ones."""

    def __init__(self, values: NDArray[np.uint32]) -> None:
        self.v = np.concatenate([np.zeros((1, LANES), np.uint32), values])
        self.masks = [np.zeros(LANES, bool) for _ in range(MASKS)]
        self.exec = np.ones(LANES, bool)

    def write(self, index: int, value: NDArray[np.uint32]) -> None:
        self.v[index] = np.where(self.exec, value, self.v[index])

    def run(self, name: str, a: tuple[int, ...]) -> None:
        v = self.v.copy()
        if name in EXEC_CHANGES:
            self.change(name, a)
        elif name == "compare":
            self.masks[a[0]] = (v[a[1]] < v[a[2]]) & self.exec
        elif name == "wide":
            whole = (
                v[a[2]].astype(np.uint64) | v[a[3]].astype(np.uint64) << np.uint64(32)
            ) << np.uint64(5)
            self.write(a[0], whole.astype(np.uint32))
            self.write(a[1], (whole >> np.uint64(32)).astype(np.uint32))
        elif name == "dual":
            self.write(4, v[2] + v[5])
            self.write(5, v[1])
        elif name == "put":
            self.v[a[0], a[1]] = 77
        else:
            self.write(a[0], self.moved(name, v, a))

    def moved(self, name: str, v: NDArray[np.uint32], a: tuple[int, ...]) -> NDArray[np.uint32]:
        if name == "half":
            return v[a[0]] & np.uint32(0xFFFF) | (
                v[a[1]] + (v[a[2]] >> np.uint32(16))
            ) << np.uint32(16)
        lanes = np.arange(LANES)
        return {
            "add": lambda: v[a[1]] + v[a[2]],
            "move": lambda: v[a[1]],
            "lane": lambda: v[a[1], a[3]] + v[a[2]],
            "dpp": lambda: v[a[1]][lanes ^ 5],
            "permute": lambda: np.full(LANES, v[a[1], a[2] // 4]),
        }[name]()

    def change(self, name: str, a: tuple[int, ...]) -> None:
        before = self.exec.copy()
        if name == "narrow":
            self.exec = before & (self.v[a[0]] < self.v[a[1]])
        elif name == "set":
            self.exec = (a[0] >> np.arange(LANES) & 1).astype(bool)
        elif name in ("and", "else"):
            mask = self.masks[a[1]]
            self.exec = before & mask if name == "and" else before | mask
            self.masks[a[0]] = before
        else:
            mask = self.masks[a[0]]
            self.exec = {"or": before | mask, "less": before & ~mask, "flip": before ^ mask}[name]


def check(parts: list[list[Item]], wanted: list[int], seed: int) -> None:
    """A straight part, a loop that runs three times, another part; lane by lane in the model."""
    texts = [
        "\n".join("  " + TEXTS[name].format(*values) for name, values in part) for part in parts
    ]
    masks = "".join(f"  s_mov_b32 s1{number}, 0\n" for number in range(MASKS))
    loop = (
        f"  s_mov_b32 s20, 3\n.Lloop:\n{texts[1]}\n  s_sub_co_u32 s20, s20, 1\n  s_cmp_lg_u32 "
        "s20, 0\n"
    )
    body = f"{masks}{texts[0]}\n{loop}  s_cbranch_scc1 .Lloop\n{texts[2]}"
    values = np.random.default_rng(seed).integers(0, 1 << 32, (VECTORS, LANES), np.uint32)
    model = Model(values)
    for part in (parts[0], *[parts[1]] * 3, parts[2]):
        for name, operands in part:
            model.run(name, operands)
    found = run_registers(body, values, wanted, attributes="+real-true16")
    np.testing.assert_array_equal(found, model.v[wanted], err_msg=body)


def check_random(seed: int) -> None:
    source = random.Random(seed)
    parts = [list(items(source, source.randint(4, 14))) for _ in range(3)]
    # Of the others, nobody reads what they hold in the end.
    check(parts, source.sample(range(1, VECTORS + 1), 2), seed)


@pytest.mark.sample(10)
@pytest.mark.parametrize("seed", range(24))
def test_inactive_lanes_keep_what_is_read_later(seed: int) -> None:
    check_random(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_many_random_changes_of_exec(seed: int) -> None:
    check_random(seed)


FULL = 0xFFFFFFFF


@pytest.mark.parametrize(
    "program",
    [
        # Lanes that the last write leaves out are active after the first one: EXEC is full in
        # between.
        [
            ("set", (0xFFFF,)),
            ("move", (1, 2)),
            ("set", (FULL,)),
            ("compare", (0, 4, 5)),
            ("and", (1, 0)),
            ("move", (1, 3)),
        ],
        # Another lane's value, of a lane that is inactive where it is written and read.
        [
            ("set", (0xFF,)),
            ("move", (2, 3)),
            ("lane", (1, 2, 3, 20)),
            ("set", (FULL,)),
            ("move", (2, 3)),
        ],
        [("set", (0xFF,)), ("move", (2, 3)), ("dpp", (1, 2)), ("set", (FULL,)), ("move", (2, 3))],
        [
            ("set", (0xFF,)),
            ("move", (2, 3)),
            ("permute", (1, 2, 40)),
            ("set", (FULL,)),
            ("move", (2, 3)),
        ],
        # Half of a register is no whole one.
        [("set", (0xFF,)), ("move", (1, 2)), ("set", (FULL,)), ("half", (1, 3, 4))],
    ],
)
def test_what_inactive_lanes_hold_reaches_its_reader(program: list[Item]) -> None:
    check([program, [], []], [1], 7)


def selects(code_object: bytes, name: str) -> int:
    found = CodeObject.read(code_object)
    kernel = found.kernels[name]
    wave_size = kernel.descriptor.wave_size
    graph = build_graph(kernel_text(found, kernel), kernel.entry_address)
    text = translate_wave(graph, True, "nounwind", wave_size=wave_size).text
    # Where NaNs are met there are selects of another kind.
    blocks = re.split(r"^(?=[\w.]+:)", text, flags=re.MULTILINE)
    return sum(block.count("select <32 x i1>") for block in blocks if not block.startswith("nan."))


def test_a_guarded_kernel_needs_no_selects() -> None:
    guarded = compile_source((KERNELS / "saxpy.c").read_text(), "-O3")
    assert selects(guarded, "saxpy") == 0


def test_lanes_that_come_back_need_theirs() -> None:
    body = (
        "  v_cmp_lt_u32_e32 vcc_lo, 3, v0\n  s_and_saveexec_b32 s4, vcc_lo\n  v_add_nc_u32 v1, "
        "v0, v0\n{}"
    )
    store = "  s_or_b32 exec_lo, exec_lo, s4\n  global_store_b32 v0, v1, s[0:1]"
    assert selects(assemble(body.format(store)), "kernel") == 1
    assert selects(assemble(body.format("  global_store_b32 v0, v1, s[0:1]")), "kernel") == 0
