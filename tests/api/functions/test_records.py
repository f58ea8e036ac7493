"""Tuples, named tuples and frozen dataclasses: local values, arguments of functions and kernels,
results."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, i64
from tests.api.lanes import DEVICE, same_as_python


class Mode(enum.Enum):
    ADD = 1
    MULTIPLY = 2


class Color(enum.IntEnum):
    RED = 3
    BLUE = 5


class Point(NamedTuple):
    x: f32
    y: f32 = np.float32(2)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@dataclass(frozen=True)
class Body:
    at: Point
    steps: i32
    mode: str = "sum"
    SCALE = 3

    @property
    def twice(self):
        return self.steps * 2

    @staticmethod
    def half(x):
        return x * np.float32(0.5)

    def moved(self, distance):
        return replace(
            self, at=self.at._replace(x=self.at.x + distance), steps=self.steps + np.int32(1)
        )


@dataclass
class Changing:
    x: float


@dataclass(frozen=True)
class Computed:
    x: float

    def __post_init__(self):
        object.__setattr__(self, "x", self.x + 1)


UNIT = Body(Point(np.float32(1)), np.int32(4))


def made(a):
    if a > 2:
        return Point(a, np.float32(1))
    return Point(y=a, x=np.float32(1))


def test_records_as_local_values() -> None:
    def lane(i, out):
        body = Body(Point(np.float32(i)), np.int32(i))
        for _ in range(i):
            body = body.moved(np.float32(0.5))
        if i > 3:
            body = replace(body, steps=np.int32(100))
        other = made(body.at.x)
        x, y = other
        out[0, i] = body.at.dot(other) + body.half(x) + y + other[1]
        out[1, i] = body.twice + UNIT.steps * body.SCALE
        if body.mode == "sum":
            out[1, i] += len(other)

    same_as_python(lane, np.zeros((2, 40), np.float32))


@dataclass(frozen=True)
class Task:
    at: Point
    data: Any
    n: i64
    mode: Mode = Mode.ADD
    bias: Any = None

    def get(self, i):
        value = self.data[i] * self.at.x + self.at.y
        if self.bias is not None:
            value += self.bias[i]
        return value if self.mode is Mode.ADD else value * 2

    def put(self, i, value):
        self.data[i] = value


@amdjit.kernel
def work(task, out, color, pair, extra=None):
    i = amdjit.grid(1)
    out[i] = task.get(i) + task.n + color + pair[0] * pair[1][0]
    task.put(i, 7)
    if color == Color.BLUE and extra is not None:
        out[i] += extra


def tasks() -> list[Task]:
    data = np.arange(8, dtype=np.float32)
    bias = np.ones(16, np.float32)[::2]
    return [
        Task(Point(1.0, 2.5), data.copy(), 3),
        Task(Point(2.0), data.copy(), 1 << 20, Mode.MULTIPLY),
        Task(Point(2.0), data.copy(), 3, Mode.MULTIPLY, bias),
    ]


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("extra", [None, 10.0])
def test_records_as_kernel_arguments(number: int, extra: float | None) -> None:
    """Scalars, arrays, other records, enums and None inside; arrays that are written come back."""
    task, out = tasks()[number], np.zeros(8, np.float32)
    arguments = (task, out, Color.BLUE, (2, (1.5,)))
    expected = [task.get(i) + task.n + 5 + 3 + (extra or 0) for i in range(8)]
    with amdjit.use(DEVICE):
        work[1, 8](*arguments, *([] if extra is None else [extra]))
    assert np.array_equal(out, np.array(expected, np.float32))
    assert (task.data == 7).all()


def test_device_arrays_inside_records() -> None:
    task = tasks()[0]
    with amdjit.use(DEVICE):
        data = amdjit.to_device(task.data)
        out = amdjit.zeros(8, np.float32)
        work[1, 8](replace(task, data=data), out, 0, (0, (0.0,)))
        assert np.array_equal(out.copy_to_host(), np.arange(8) + 5.5)
        assert (data.copy_to_host() == 7).all()


def test_a_read_only_array_inside_a_record_is_named() -> None:
    task = tasks()[0]
    task.data.setflags(write=False)
    with amdjit.use(DEVICE), pytest.raises(amdjit.LaunchError, match=r"argument task\.data"):
        work[1, 8](task, np.zeros(8, np.float32), 0, (0, (0.0,)))


@amdjit.kernel
def annotated(at: Point, out: f32[:]):
    out[0] = at.dot(at)


def test_annotated_with_a_class() -> None:
    out = np.zeros(1, np.float32)
    with amdjit.use(DEVICE):
        annotated[1, 1](Point(3, 4.0), out)
        assert out[0] == 25
        for wrong in ((3.0, 4.0), 3.0, UNIT):
            with pytest.raises(amdjit.TypeCheckError, match="annotated Point"):
                annotated[1, 1](wrong, out)
    assert annotated.compile(None, None).signature == "annotated(Point(x: f32, y: f32), f32[::1])"
    assert annotated.compile(Point(f32, f32), f32[:]).signature == annotated.compile().signature


@amdjit.kernel
def makes(out, python: amdjit.Const):
    out[0] = python(1.0).x


@pytest.mark.parametrize(
    ("python", "remedy"), [(Changing, "frozen=True"), (Computed, "__post_init__")]
)
def test_classes_that_are_no_records_are_refused(python: type, remedy: str) -> None:
    with amdjit.use(DEVICE), pytest.raises(amdjit.TypeCheckError, match=remedy):
        makes[1, 1](np.zeros(1, np.float32), python)


def test_a_dataclass_that_changes_is_no_argument() -> None:
    with amdjit.use(DEVICE), pytest.raises(amdjit.LaunchError, match="frozen=True"):
        work[1, 8](Changing(1.0), np.zeros(8, np.float32), 0, (0, (0.0,)))


@amdjit.kernel
def constants(out, settings: amdjit.Const):
    out[0] = settings.at.x
    out[1] = settings.steps / 2


def test_constants_that_differ_in_type_only_are_compiled_apart() -> None:
    out = np.zeros(2, np.float32)
    with amdjit.use(DEVICE):
        for steps in (1, 1.0, True):
            constants[1, 1](out, Body(Point(steps), steps))
            assert out.tolist() == [1, 0.5]
    assert len(constants.specialisations) == 3


@amdjit.device_function
def scaled(at: Point, mode=None, by: f32 = None):
    if mode is Mode.MULTIPLY and by is not None:
        return Point(at.x * by, at.y * by)
    return at


@amdjit.kernel
def helper_with_defaults(out):
    a, b = scaled(Point(1.0)), scaled(Point(1.0), Mode.MULTIPLY, 3.0)
    out[0], out[1] = a.x, b.x
    out[2] = 1 if a == Point(1.0, 2.0) else 0
    out[3] = 1 if (a.x, b.y) != (1.0, 6.0) else 0
    out[4] = 1 if a == (1.0, 2.0) else 0
    out[5] = 1 if a == UNIT else 0


def test_none_defaults_and_comparisons() -> None:
    out = np.zeros(6, np.float32)
    with amdjit.use(DEVICE):
        helper_with_defaults[1, 1](out)
    assert out.tolist() == [1, 3, 1, 0, 1, 0]


@amdjit.kernel
def enums(out, mode, color):
    out[0] = 1 if mode is Mode.ADD else 2
    out[1] = 1 if mode == Mode.ADD else 2
    out[2] = Color.BLUE + color
    out[3] = Mode.MULTIPLY.value
    for number, each in enumerate((Color.RED, Color.BLUE)):
        if color == each:
            out[4] = number


def test_members_of_enums_are_their_values() -> None:
    out = np.zeros(5, np.int32)
    with amdjit.use(DEVICE):
        enums[1, 1](out, Mode.MULTIPLY, Color.BLUE)
        assert out.tolist() == [2, 2, 10, 2, 1]
        enums[1, 1](out, Mode.ADD, Color.RED)
        assert out.tolist() == [1, 1, 8, 2, 0]


@dataclass(frozen=True)
class Measured:
    value: f32
    weight: f32 = 1.0


def too_few():
    return Measured()


def other_name():
    return Measured(1.0, mass=2.0)


def too_many():
    return Measured(1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (too_few, "takes 2 arguments, but `value` is missing"),
        (other_name, "takes 2 arguments, but it has no parameter `mass`"),
        (too_many, "takes 2 arguments, but more were given"),
    ],
)
def test_a_record_of_other_fields_is_refused_with_its_own(make: Any, message: str) -> None:
    @amdjit.kernel
    def kernel(out):
        out[0] = make().value

    with pytest.raises(amdjit.TypeCheckError, match=message) as caught:
        kernel.compile(f32[:])
    assert (
        caught.value.diagnostics[0].help
        == "its signature is Measured(value: f32, weight: f32 = 1.0)"
    )
