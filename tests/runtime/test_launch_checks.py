"""Launches that cannot work are refused before anything runs, and the error names the change to
make."""

from __future__ import annotations

import numpy as np
import pytest

from amdjit.abi.launch_shape import LaunchShape, check_launch
from amdjit.diagnostics.errors import LaunchError
from amdjit.target import find_target

TARGET = find_target("gfx1201")
assert TARGET is not None


def check(
    grid: object = 1, block: object = 64, dynamic: object = 0, **changes: object
) -> LaunchShape:
    settings = {"max_flat_workgroup_size": 1024, "static_lds": 0} | changes
    return check_launch(grid, block, dynamic, TARGET, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("grid", "block", "expected"),
    [
        (5, 32, ((5, 1, 1), (32, 1, 1))),
        ((5, 4), (8, 4), ((5, 4, 1), (8, 4, 1))),
        ([np.int64(5), 4, 3], (8, 4, np.int32(2)), ((5, 4, 3), (8, 4, 2))),
        (2**21 - 1, 1024, ((2**21 - 1, 1, 1), (1024, 1, 1))),
        ((1, 65535, 65535), 1, ((1, 65535, 65535), (1, 1, 1))),
    ],
)
def test_sound_launches_get_three_axes(grid: object, block: object, expected: object) -> None:
    assert check(grid, block) == (*expected, 0, False)


@pytest.mark.parametrize(
    ("arguments", "settings", "texts"),
    [
        ((1, 1025), {}, ("(1025, 1, 1) has 1025", "gfx1201 runs at most 1024", "block smaller")),
        ((1, (32, 33)), {}, ("1056 work-items",)),
        ((1, 257), {"max_flat_workgroup_size": 256}, ("at most 256", "@amdjit.kernel(block=257)")),
        ((1, 32), {"required_block": (32, 8, 1)}, ("exactly block=(32, 8, 1)",)),
        ((0, 32), {}, ("the grid is 0", "at least 1", "skip the launch")),
        ((1, (32, 0)), {}, ("the block is (32, 0)", "y is 0")),
        ((-3, 32), {}, ("x is -3",)),
        ((1, (1, 1, 1, 1)), {}, ("one to three numbers: block = n",)),
        (((), 1), {}, ("one to three numbers: grid = n",)),
        ((1000 / 256, 256), {}, ("x is a float", "// instead of /")),
        (("4", 256), {}, ("x is a str, not an integer",)),
        (
            (2**31, 1),
            {},
            ("2147483648 workgroups along x", "at most 2147483647", "more than one element"),
        ),
        (((1, 65536), 1), {}, ("along y", "at most 65535", "largest axis on x")),
        (((1, 1, 65536), 1), {}, ("along z",)),
        ((2**21, 1024), {}, ("2147483648 work-items along x",)),
        ((1, 32, 65537), {}, ("needs 65537 bytes of LDS", "has 65536")),
        (
            (1, 32, 1024),
            {"static_lds": 65536},
            ("65536 bytes of shared.array and 1024 bytes of dynamic", "tiles"),
        ),
        ((1, 32, -1), {}, ("0 or more",)),
        ((1, 32, 1.5), {}, ("number of bytes",)),
    ],
)
def test_refused_launches_say_what_to_write(
    arguments: tuple[object, ...], settings: dict[str, object], texts: tuple[str, ...]
) -> None:
    with pytest.raises(LaunchError) as refused:
        check(*arguments, **settings)
    for text in texts:
        assert text in str(refused.value)


def test_all_lds_may_be_used() -> None:
    check(1, 32, 1024, static_lds=64 * 1024 - 1024)
