"""Operands in one bank: those that the numbers say, and none that the assembler accepts in dual
issue."""

from __future__ import annotations

import subprocess

import numpy as np

from amdjit.code_object import CodeObject
from amdjit.inspection.reading import inspect_object
from tests.emulator.building import assemble
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

random = np.random.default_rng(0)


def test_products_whose_operands_begin_in_one_bank() -> None:
    operands = random.integers(0, 60, (40, 3)).tolist()
    text = "\n".join(
        f"v_wmma_f32_16x16x16_f16 v[{d}:{d + 7}], v[{a}:{a + 3}], v[{b}:{b + 3}], v[{d}:{d + 7}]"
        for a, b, d in operands
    )
    found = inspect_object(assemble(text))
    (banks,) = found.register_banks
    expected = [len({a & 3, b & 3, d & 3}) < 3 for a, b, d in operands]
    ours = [item.address in banks.addresses for item in found.instructions[:-1]]
    assert ours == expected
    assert 0 < sum(expected) < len(expected)
    assert (banks.instructions, banks.count, banks.cycles) == ("WMMA", 40, 0)


def test_a_sparse_product_and_a_constant() -> None:
    found = inspect_object(
        assemble(
            "v_swmmac_f32_16x16x32_f16 v[8:15], v[17:20], v[22:29], v31\n"
            "v_swmmac_f32_16x16x32_f16 v[8:15], v[17:20], v[21:28], v31\n"
            "v_wmma_f32_16x16x16_f16 v[8:15], v[1:4], v[6:9], 0"
        )
    )
    assert found.register_banks[0].addresses == (found.instructions[1].address,)


def is_accepted(line: str) -> bool:
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1201", "-filetype=null"]
    return subprocess.run(command, input=line, text=True, capture_output=True).returncode == 0


def test_the_assembler_accepts_no_dual_issue_with_sources_in_one_bank() -> None:
    lines = []
    for operation in ("v_dual_add_f32", "v_dual_mov_b32"):
        for _ in range(30):
            a, b, c, d = (int(n) for n in random.integers(0, 12, 4))
            x, y = ("", "") if operation.endswith("mov_b32") else (f", v{b}", f", v{d}")
            lines.append(f"{operation} v20, v{a}{x} :: {operation} v21, v{c}{y}")
    accepted = [line for line in lines if is_accepted(line)]
    assert 0 < len(accepted) < len(lines)
    (banks,) = inspect_object(assemble("\n".join(accepted))).register_banks
    assert (banks.instructions, banks.count, banks.addresses) == ("VOPD", len(accepted), ())


def test_machine_code_that_breaks_the_rule_is_found() -> None:
    code = assemble("v_dual_add_f32 v20, v0, v2 :: v_dual_add_f32 v21, v1, v3")
    whole = CodeObject.read(code)
    address = whole.kernels["kernel"].entry_address
    start = code.index(whole.text(address, 12))
    for first in (0, 1, 4, 5):
        # SRCX0 are bits 8:0: 256 and the number of the register.
        word = int.from_bytes(code[start : start + 4], "little") & ~0x1FF | 0x100 | first
        patched = code[:start] + word.to_bytes(4, "little") + code[start + 4 :]
        banks = inspect_object(patched).register_banks[0]
        assert banks.addresses == ((address,) if first % 4 == 1 else ())
