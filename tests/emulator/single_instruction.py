"""Run one instruction, or a few, on many lanes' inputs and read the registers back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import assemble, emulate, own_parts

Registers = NDArray[np.uint32]

_BODY = """
{places}{loads}
  s_wait_loadcnt 0x0
  s_mov_b32 s20, 0
  s_mov_b32 vcc_lo, 0
  s_mov_b32 vcc_hi, 0
{body}
  s_mov_b64 exec, -1
{stores}
"""


def run_registers(
    body: str,
    inputs: Registers,
    outputs: list[int],
    scalars: list[str] | None = None,
    wave_size: int = 32,
    **options: Any,
) -> Registers:
    """Put `inputs` (registers by lanes, whole waves) in v1, v2, ...; run `body`; return registers
    by lanes.

    outputs: numbers of vector registers. scalars: names of scalar registers, returned in all lanes
    after them. s5 and up are free for `body`, as are registers from v100 to v249.
    """
    rows, lanes = inputs.shape
    groups, row_bytes = lanes // wave_size, 4 * wave_size
    names = list(scalars or [])
    copies = [f"  v_mov_b32 v{240 + index}, {name}" for index, name in enumerate(names)]
    everything = [*outputs, *range(240, 240 + len(names))]
    loads = [
        f"  global_load_b32 v{1 + row}, v250, s[0:1] offset:{row_bytes * row}"
        for row in range(rows)
    ]
    stores = [
        f"  global_store_b32 v250, v{n}, s[2:3] offset:{row_bytes * row}"
        for row, n in enumerate(everything)
    ]
    text = _BODY.format(
        places=own_parts(row_bytes * rows, row_bytes * len(everything)),
        loads="\n".join(loads),
        body=body,
        stores="\n".join(copies + stores),
    )
    # EXEC must be full before the scalar copies: they stand after the reset of EXEC.
    packed = np.ascontiguousarray(inputs.reshape(rows, groups, wave_size).transpose(1, 0, 2))
    found = np.zeros((groups, len(everything), wave_size), np.uint32)
    emulate(
        assemble(text, wave_size=wave_size, **options), "kernel", groups, wave_size, [packed, found]
    )
    return np.ascontiguousarray(found.transpose(1, 0, 2)).reshape(len(everything), lanes)


def bits32(values: Any) -> NDArray[np.uint32]:
    """The bits of 32-bit or narrower numbers, zero-extended."""
    array = np.asarray(values)
    narrow = array.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[array.dtype.itemsize])
    return narrow.astype(np.uint32)


def split64(values: Any) -> list[NDArray[np.uint32]]:
    """64-bit numbers as two rows of dwords."""
    wide = np.ascontiguousarray(values).view(np.uint64)
    return [(wide & 0xFFFFFFFF).astype(np.uint32), (wide >> np.uint64(32)).astype(np.uint32)]


def join64(low: NDArray[np.uint32], high: NDArray[np.uint32], kind: Any) -> NDArray[Any]:
    """Two rows of dwords as 64-bit numbers."""
    return (low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)).view(kind)


_SPECIAL_32 = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x00000001, 0x807FFFFF, 0x00800000, 0x3F000000, 0x3EAAAAAB, 0x4B000001, 0x4B800000,
    0xBE99999A, 0x40490FDB, 0x7E967699, 0x0DA24260, 0x5F000000, 0xCF000000, 0x4F800000, 0x33800000,
    0xFFFFFFFF, 0x7FFFFFFF, 0x0000FFFF, 0xFFFF0000, 0x00008000, 0x12345678, 0xDEADBEEF, 0x00000020,
]  # fmt: skip


def samples32(rows: int, seed: int = 1) -> Registers:
    """Special patterns in all pairs over two rows, then random bits, and random floats of moderate
    size."""
    random = np.random.default_rng(seed)
    special = np.array(_SPECIAL_32, np.uint32)
    grid = np.stack(
        [
            np.tile(special, 32),
            np.repeat(special, 32),
            *(random.permutation(np.tile(special, 32)) for _ in range(rows)),
        ]
    )
    noise = random.integers(0, 1 << 32, (rows + 2, 512), np.uint32)
    plain = (random.standard_normal((rows + 2, 512)) * 100).astype(np.float32).view(np.uint32)
    return np.ascontiguousarray(np.concatenate([grid, noise, plain], axis=1)[:rows])


_SPECIAL_16 = [
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7BFF, 0xFBFF, 0x0001, 0x83FF, 0x0400,
    0x3800, 0x3555, 0xFFFF, 0x7FFF, 0x00FF, 0xFF00, 0x1234, 0x6400,
]  # fmt: skip


def samples16(rows: int, seed: int = 2) -> NDArray[np.uint16]:
    """Half-precision patterns of all kinds."""
    random = np.random.default_rng(seed)
    special = random.choice(np.array(_SPECIAL_16, np.uint16), (rows, 512))
    noise = random.integers(0, 1 << 16, (rows, 512), np.uint16)
    plain = (random.standard_normal((rows, 512)) * 4).astype(np.float16).view(np.uint16)
    return np.concatenate([special, noise, plain], axis=1)


def samples64(rows: int, seed: int = 3) -> NDArray[np.uint64]:
    """Double-precision patterns and integers of all kinds."""
    random = np.random.default_rng(seed)
    special = np.array(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            np.inf,
            -np.inf,
            np.nan,
            5e-324,
            -1e-310,
            2.2250738585072014e-308,
            1.7e308,
            0.1,
            3.0,
        ]
    ).view(np.uint64)
    chosen = random.choice(special, (rows, 512))
    noise = random.integers(0, 1 << 64, (rows, 512), np.uint64)
    plain = (random.standard_normal((rows, 512)) * 100).view(np.uint64)
    return np.concatenate([chosen, noise, plain], axis=1)
