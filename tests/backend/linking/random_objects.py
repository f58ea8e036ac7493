"""Random relocatable objects: text with what LLVM makes for kernels, in any combination."""

from __future__ import annotations

import random
import shutil
import string
import subprocess

import pytest

_TARGETS = ("gfx1201", "gfx1100", "gfx942", "gfx90a", "gfx1030")
_LETTERS = string.ascii_letters + string.digits + "_"


def random_object(seed: int) -> bytes:
    """Return an object with kernels, symbols, constants, data, notes and tables for debuggers."""
    assembler = shutil.which("llvm-mc-22")
    if assembler is None:
        pytest.skip("llvm-mc-22 is not installed")
    draw = random.Random(seed)
    command = [assembler, "-triple=amdgcn-amd-amdhsa", f"-mcpu={draw.choice(_TARGETS)}"]
    done = subprocess.run(
        [*command, "-filetype=obj", "-"], input=assembly(draw).encode(), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def assembly(draw: random.Random) -> str:
    """Return the text of an object."""
    names = _names(draw, draw.choice((1, 2, 5, 12, 40)))
    kernels = names[: draw.randint(1, len(names))]
    parts = [_code(draw, kernels), _constants(draw, kernels)]
    optional = [_data, _zeros, _loader_data, _merged, _debug, _notes, _absolute]
    parts += [part(draw, kernels) for part in optional if draw.random() < 0.5]
    first, rest = parts[0], parts[1:]
    draw.shuffle(rest)
    return "\n".join([first, *rest, '.section ".note.GNU-stack","",@progbits', ""])


def _names(draw: random.Random, count: int) -> list[str]:
    found: set[str] = set()
    while len(found) < count:
        length = draw.choice((1, 3, 8, 20, 60, 300))
        found.add("k" + "".join(draw.choices(_LETTERS, k=draw.randint(0, length))))
    return sorted(found)


def _visibility(draw: random.Random, name: str) -> str:
    return draw.choice(
        (
            "",
            f".globl {name}\n.protected {name}\n",
            f".globl {name}\n.hidden {name}\n",
            f".weak {name}\n.protected {name}\n",
            f".globl {name}\n",
        )
    )


def _code(draw: random.Random, kernels: list[str]) -> str:
    """Kernels in `.text` and in sections of their own; the first is what a loader finds."""
    lines = []
    for number, name in enumerate(kernels):
        section = draw.choice((".text", ".text", f".text.{name}", ".text.unlikely."))
        visible = f".globl {name}\n.protected {name}\n" if not number else _visibility(draw, name)
        lines += [f'.section {section},"ax",@progbits', visible, f".type {name},@function"]
        lines += [f".p2align {draw.randint(2, 9)}", f"{name}:"]
        lines += [f".fill {draw.randint(2, 90)}, 4, 0xbf800000", "s_endpgm"]
        for kind in draw.sample(("REL32_LO", "REL32_HI", "REL32"), draw.randint(0, 3)):
            lines += [
                f".reloc .-{draw.randint(1, 3) * 4}, R_AMDGPU_{kind}, .Lend0+{draw.randint(-9, 9)}"
            ]
        lines += [f".Lend{number}:", f".size {name}, .Lend{number}-{name}"]
    return "\n".join(lines)


def _constants(draw: random.Random, kernels: list[str]) -> str:
    """Descriptors with the distance to their code, as in kernel descriptors."""
    lines = []
    for number, name in enumerate(kernels):
        section = draw.choice((".rodata", ".rodata", ".rodata.more"))
        lines += [f'.section {section},"a",@progbits', f".p2align {draw.randint(3, 7)}"]
        lines += [_visibility(draw, f"{name}.kd"), f".type {name}.kd,@object", f"{name}.kd:"]
        lines += [".quad 0", ".quad 0"]
        lines += [f".reloc .-8, R_AMDGPU_REL64, .Lend{number}-{draw.randint(0, 40)}"]
        lines += [f".fill {draw.randint(0, 12)}, 4, {draw.randint(0, 99)}", f".size {name}.kd, 64"]
    return "\n".join(lines)


def _data(draw: random.Random, kernels: list[str]) -> str:
    lines = ['.section .data,"aw",@progbits', f".p2align {draw.randint(0, 8)}", "variable:"]
    lines += [f".quad .Lend{draw.randrange(len(kernels))}+{draw.randint(0, 9)}"] * draw.randint(
        0, 5
    )
    return "\n".join([*lines, ".long 5", _visibility(draw, "variable"), ".size variable, 4"])


def _loader_data(draw: random.Random, kernels: list[str]) -> str:
    lines = ['.section .data.rel.ro,"aw",@progbits', ".p2align 3"]
    for _ in range(draw.randint(1, 6)):
        lines += [f".quad .Lend{draw.randrange(len(kernels))}+{draw.randint(-9, 9)}"]
    return "\n".join(lines)


def _zeros(draw: random.Random, kernels: list[str]) -> str:
    name = draw.choice((".bss", ".bss.zeros"))
    return (
        f'.section {name},"aw",@nobits\n.p2align {draw.randint(0, 13)}\nzeros:\n'
        f".zero {draw.randint(1, 9000)}\n{_visibility(draw, 'zeros')}"
    )


def _merged(draw: random.Random, kernels: list[str]) -> str:
    """Constants and strings in sections that differ in names, sizes of entries and alignment."""
    lines = []
    for size in draw.sample((4, 8, 16, 32), draw.randint(1, 4)):
        for name in draw.sample(("", ".more", ".other"), draw.randint(1, 3)):
            lines += [f'.section .rodata{name}.cst{size},"aM",@progbits,{size}']
            lines += [f".p2align {draw.randint(2, 6)}"]
            for _ in range(draw.randint(1, 6)):
                value = draw.choice((0, 1, 0x3F800000, draw.getrandbits(32)))
                lines += [f".fill {size // 4}, 4, {value:#x}"]
            lines += [f".balign {size}"]
    for alignment in draw.sample((1, 2, 8), draw.randint(0, 3)):
        lines += [f'.section .rodata.str1.{alignment},"aMS",@progbits,1', f".balign {alignment}"]
        for text in draw.choices(("text", "more text", "", "other"), k=draw.randint(1, 5)):
            lines += [f'.asciz "{text}"']
    return "\n".join(lines)


def _notes(draw: random.Random, kernels: list[str]) -> str:
    lines = ['.section .note,"a",@note', f".p2align {draw.randint(2, 4)}", ".long 4, 4, 32"]
    return "\n".join([*lines, '.asciz "AMD"', f".long {draw.getrandbits(32)}"])


def _absolute(draw: random.Random, kernels: list[str]) -> str:
    return "".join(f".set {name}.num_vgpr, {draw.getrandbits(8)}\n" for name in kernels)


def _debug(draw: random.Random, kernels: list[str]) -> str:
    """Strings that occur more than once, and tables of where they are and where the code is."""
    lines = ['.section .debug_str,"MS",@progbits,1']
    texts = draw.choices(["", *_names(draw, draw.randint(1, 20))], k=draw.randint(1, 30))
    inside = sum(len(text) + 1 for text in texts) - 1
    for number, text in enumerate(texts):
        lines += [f".Ltext{number}:", f'.asciz "{text}"']
    lines += ['.section .debug_info,"",@progbits']
    for _ in range(draw.randint(1, 40)):
        lines += [
            draw.choice(
                (
                    f".long .Ltext{draw.randint(0, number)}",
                    f".long .debug_str+{draw.randint(0, inside)}",
                    f".quad .Lend{draw.randrange(len(kernels))}",
                    f".byte {draw.getrandbits(8)}",
                )
            )
        ]
    if draw.random() < 0.5:
        lines += ['.section .comment,"MS",@progbits,1']
        lines += [f'.asciz "{name}"' for name in _names(draw, draw.randint(1, 6))]
    return "\n".join(lines)
