"""Code objects broken in a way that their number chooses: `python hostile_objects.py SAMPLES FIRST
COUNT PROCESSOR` runs some.

Names of checks may follow, `memory race init sync`: the launches are checked then.
"""

from __future__ import annotations

import faulthandler
import random
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.settings import Request
from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import AmdjitError
from amdjit.emulator import EmulatorDevice
from amdjit.options import Environment
from amdjit.target import find_target

ARRAY_BYTES = 1 << 16
_BRANCHES = (0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6)
# s_setpc_b64, s_swappc_b64, s_getpc_b64, s_barrier_wait, s_sleep, s_endpgm, s_trap and s_branch to
# itself.
_TEMPLATES = (
    0xBE804800,
    0xBE804900,
    0xBE804700,
    0xBF940000,
    0xBF830000,
    0xBFB00000,
    0xBF900000,
    0xBFA0FFFF,
)

Break = Callable[[bytearray, CodeObject, random.Random], None]


def _file_range(data: bytearray, address: int, size: int) -> range:
    """Return where in the file the bytes of a virtual address are (ELF: program headers of type
    PT_LOAD)."""
    offset, entry_size, count = (
        *struct.unpack_from("<Q", data, 32),
        *struct.unpack_from("<HH", data, 54),
    )
    for index in range(count):
        kind, _, start, virtual, _, filed = struct.unpack_from(
            "<IIQQQQ", data, offset + index * entry_size
        )
        if kind == 1 and virtual <= address and address + size <= virtual + filed:
            return range(start + address - virtual, start + address - virtual + size)
    raise AssertionError("the samples are sound")


def _text(data: bytearray, sample: CodeObject) -> range:
    kernel = next(iter(sample.kernels.values()))
    return _file_range(data, kernel.entry_address, kernel.code_size // 4 * 4)


def _random_words(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    for place in rng.sample(_text(data, sample)[::4], rng.randint(1, 4)):
        struct.pack_into("<I", data, place, rng.getrandbits(32))


def _flipped_bits(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    text = _text(data, sample)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.choice(text)] ^= 1 << rng.randrange(8)


def _random_text(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    text = _text(data, sample)
    data[text.start : text.stop] = rng.randbytes(len(text))


def _wild_branches(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    for place in rng.sample(_text(data, sample)[::4], rng.randint(1, 3)):
        distance = rng.choice(
            [-1, 0, 0x7FFF, -0x8000, rng.randint(-64, 64), rng.randint(-0x8000, 0x7FFF)]
        )
        word = 0xBF800000 | rng.choice(_BRANCHES) << 16 | distance & 0xFFFF
        struct.pack_into("<I", data, place, word)


def _inserted_instructions(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    for place in rng.sample(_text(data, sample)[::4], rng.randint(1, 4)):
        struct.pack_into(
            "<I", data, place, rng.choice(_TEMPLATES) + rng.choice([0, rng.getrandbits(7)])
        )


def _swapped_instructions(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    text = _text(data, sample)
    for _ in range(rng.randint(1, 6)):
        one, other = (rng.choice(text[::4]) for _ in range(2))
        data[one : one + 4], data[other : other + 4] = data[other : other + 4], data[one : one + 4]


def _descriptor(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    kernel = next(iter(sample.kernels.values()))
    place = _file_range(data, kernel.descriptor_address, 64)
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.5:
            data[rng.choice(place)] = rng.randrange(256)
        else:
            struct.pack_into("<I", data, place.start + 4 * rng.randrange(16), rng.choice(_NUMBERS))


_NUMBERS = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 65536, 65537, 1 << 20, 1 << 28)


def _metadata(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    start = data.find(b"amdhsa.kernels")
    end = data.find(b"amdhsa.version", start)
    assert 0 < start < end
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(start, end)] = rng.choice([rng.randrange(256), 0xFF, 0xCF, 0xDF, 0x00])


def _anywhere(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 4, 64])):
        data[rng.randrange(len(data))] = rng.randrange(256)


def _headers(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    offset, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    for _ in range(rng.randint(1, 3)):
        place = rng.choice([rng.randrange(0, 64 - 8), offset + 8 * rng.randrange(count * 7)])
        struct.pack_into(
            "<Q", data, place, rng.choice([*_NUMBERS, rng.getrandbits(64), rng.getrandbits(40)])
        )


def _truncated(data: bytearray, sample: CodeObject, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


BREAKS: tuple[Break, ...] = (
    _random_words,
    _flipped_bits,
    _flipped_bits,
    _random_text,
    _wild_branches,
    _inserted_instructions,
    _swapped_instructions,
    _descriptor,
    _metadata,
    _anywhere,
    _headers,
    _truncated,
)


def hostile_object(samples: list[Path], number: int) -> bytes:
    """Return the code object of a number, made from one of the sound ones."""
    rng = random.Random(number)
    data = bytearray(samples[number // len(BREAKS) % len(samples)].read_bytes())
    sample = CodeObject.read(bytes(data))
    BREAKS[number % len(BREAKS)](data, sample, rng)
    return bytes(data)


def attempt(device: EmulatorDevice, code: bytes, checks: frozenset[str] = frozenset()) -> str:
    """Load and launch every kernel; return the outcome. All but amdjit's own errors pass
    through."""
    outcome = "ran"
    array = device.allocate(ARRAY_BYTES)
    try:
        module = device.load(code)
        for kernel in list(module.code_object.kernels.values())[:2]:
            arguments = kernel.metadata.explicit_arguments
            size = max((argument.offset + argument.size for argument in arguments), default=0)
            if size > 4096:
                outcome = "large"
                continue
            kernarg = bytearray(size)
            for argument in arguments:
                value = array if argument.size == 8 else 64
                place = slice(argument.offset, argument.offset + argument.size)
                kernarg[place] = (value & (1 << 8 * argument.size) - 1).to_bytes(
                    argument.size, "little"
                )
            shape = LaunchShape((3, 1, 1), (64, 1, 1))
            launch = (module.function(kernel.name), shape, kernarg)
            if not checks:
                device.launch(*launch)
                continue
            reports, fault = device.launch_sanitized(*launch, Request(checks, 20))
            outcome = "reported" if reports else outcome
            for report in reports:
                report.render()
            if fault is not None:
                raise fault
    except AmdjitError as error:
        kind = getattr(error, "kind", "")
        return f"{type(error).__name__} {kind}".strip()
    finally:
        device.free(array)
    return outcome


def main(folder: Path, first: int, count: int, cpu: str, checks: frozenset[str]) -> None:
    """Run objects; print number and outcome of each, the number first. A canary must stay what it
    is."""
    faulthandler.enable()
    target = find_target(cpu)
    assert target is not None
    device = EmulatorDevice(target, 2, time_limit=0.3, environment=Environment(), memory=1 << 30)
    samples = sorted(folder.glob("*.co"))
    canary = np.arange(1 << 20, dtype=np.uint32)
    for number in range(first, first + count):
        print(number, end=" ", flush=True)
        print(attempt(device, hostile_object(samples, number), checks), flush=True)
        assert canary[number % canary.size] == number % canary.size
    assert (canary == np.arange(1 << 20, dtype=np.uint32)).all()
    print("sound", flush=True)


if __name__ == "__main__":
    numbers = int(sys.argv[2]), int(sys.argv[3])
    main(Path(sys.argv[1]), *numbers, sys.argv[4], frozenset(sys.argv[5:]))
