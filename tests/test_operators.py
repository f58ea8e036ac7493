"""Kernels as operators of PyTorch and functions of JAX, with the real libraries on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import amdjit
import amdjit.jax
import amdjit.torch
from amdjit import OptionError, f32

torch: Any = None
jax: Any = None


@pytest.fixture
def with_torch() -> None:
    globals()["torch"] = pytest.importorskip("torch", reason="pip install amdjit[torch]")


@pytest.fixture
def with_jax() -> None:
    globals()["jax"] = pytest.importorskip("jax", reason="pip install jax")


@amdjit.kernel
def power(x, factor, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = x[i] * x[i] * factor


@amdjit.kernel
def power_backward(x, factor, gradient, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i] * gradient[i] * factor


@amdjit.kernel
def split(x, low, high, rows):
    row, column = amdjit.blockIdx.x, amdjit.threadIdx.x
    if row < rows:
        low[row, column] = min(x[row, column], f32(0))
        high[row, column] = max(x[row, column], f32(0))


@amdjit.kernel
def add_in_place(x, y):
    i = amdjit.grid(1)
    if i < x.shape[0]:
        x[i] += y[i]


def squares(name: str) -> Any:
    like = {"out": lambda a: torch.empty_like(a.x)}
    backward = amdjit.torch.custom_op(
        power_backward,
        outputs=like,
        n=lambda a: a.x.numel(),
        numbers={"factor": float},
        name=f"{name}_backward",
    )
    return amdjit.torch.custom_op(
        power,
        outputs=like,
        n=lambda a: a.x.numel(),
        numbers={"factor": float},
        name=name,
        backward=lambda a, grad: {"x": backward(a.x, a.factor, grad.contiguous())},
    )


def splits(name: str) -> Any:
    return amdjit.torch.custom_op(
        split,
        outputs={
            "low": lambda a: torch.empty_like(a.x),
            "high": lambda a: torch.empty_like(a.x),
        },
        grid=lambda a: a.x.shape[0],
        block=lambda a: a.low.shape[1],
        numbers={"rows": int},
        name=name,
    )


def test_results_and_gradients(with_torch: None) -> None:
    op = squares("amdjit_tests::plain")
    x = torch.arange(5.0, requires_grad=True)
    assert op(x, 3.0).tolist() == [0, 3, 12, 27, 48]
    op(x, 3.0).sum().backward()
    assert x.grad.tolist() == [0, 6, 12, 18, 24]
    low, high = splits("amdjit_tests::split")(torch.tensor([[1.0, -2.0], [-3.0, 4.0]]), 2)
    assert low.tolist() == [[0, -2], [-3, 0]]
    assert high.tolist() == [[1, 0], [0, 4]]


def test_pytorchs_own_check_of_operators(with_torch: None) -> None:
    op = squares("amdjit_tests::checked")
    torch.library.opcheck(op, (torch.randn(7, requires_grad=True), 2.0))
    torch.library.opcheck(splits("amdjit_tests::checked_split"), (torch.randn(3, 8), 3))
    added = amdjit.torch.custom_op(
        add_in_place,
        outputs={},
        mutates=("x",),
        n=lambda a: a.x.numel(),
        name="amdjit_tests::added",
    )
    torch.library.opcheck(added, (torch.randn(7), torch.randn(7)))
    x = torch.ones(3)
    assert added(x, torch.arange(3.0)) is None
    assert x.tolist() == [1, 2, 3]


def test_compiled_and_exported_programs_keep_it_as_one_node(with_torch: None) -> None:
    op = squares("amdjit_tests::traced")

    def program(x: Any) -> Any:
        return op(x * 2, 3.0).sum() + 1

    compiled = torch.compile(program, fullgraph=True, backend="aot_eager")
    x = torch.arange(5.0, requires_grad=True)
    compiled(x).backward()
    assert compiled(x).item() == program(x).item() == 361
    assert x.grad.tolist() == [0, 24, 48, 72, 96]

    class Module(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return op(x, 2.0) + 1

    sizes = ({0: torch.export.Dim("n", min=2)},)
    exported = torch.export.export(Module(), (torch.randn(4),), dynamic_shapes=sizes)
    targets = [str(node.target) for node in exported.graph.nodes]
    assert "amdjit_tests.traced.default" in targets
    assert exported.module()(torch.arange(4.0)).tolist() == [1, 3, 9, 19]


def test_mistakes(with_torch: None) -> None:
    like = {"out": lambda a: torch.empty_like(a.x)}
    for arguments, reason in (
        ({"outputs": {"y": like["out"]}, "n": 1}, "has no parameter 'y' for a result"),
        ({"outputs": like}, "give n=, the number of work-items, or both"),
        ({"outputs": like, "grid": 1}, "give n=, the number of work-items, or both"),
        ({"outputs": like, "n": 1, "numbers": {"z": float}}, "has no argument 'z'"),
        ({"outputs": like, "n": 1, "numbers": {"x": str}}, "give float, int or bool"),
        ({"outputs": {}, "n": 1}, "name the results"),
        (
            {"outputs": like, "n": 1, "numbers": {"factor": float}, "mutates": ["factor"]},
            "a kernel cannot change",
        ),
    ):
        with pytest.raises(OptionError, match=reason):
            amdjit.torch.custom_op(power, **arguments)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="is no kernel"):
        amdjit.torch.custom_op(max, outputs=like, n=1)
    op = amdjit.torch.custom_op(
        power,
        outputs=like,
        n=5,
        numbers={"factor": float},
        name="amdjit_tests::wrong",
        backward=lambda a, grad: {"y": grad},
    )
    with pytest.raises(OptionError, match="a gradient of 'y', no argument"):
        op(torch.ones(5, requires_grad=True), 1.0).sum().backward()


def test_functions_of_jax(with_jax: None) -> None:
    call = amdjit.jax.custom_call(
        power,
        outputs={"out": lambda a: jax.ShapeDtypeStruct(a.x.shape, a.x.dtype)},
        n=lambda a: a.x.size,
    )
    x = jax.numpy.arange(5.0)
    assert call(x, 2.0).tolist() == [0, 2, 8, 18, 32]
    compiled = jax.jit(lambda x: call(x + 1, x[2]) + 1)
    assert compiled(x).tolist() == [3, 9, 19, 33, 51]
    rows = jax.numpy.ones((2, 4))
    assert np.array_equal(jax.vmap(lambda row: call(row, 3.0))(rows), 3 * rows)
    several = amdjit.jax.custom_call(
        split,
        outputs=dict.fromkeys(
            ("low", "high"), lambda a: jax.ShapeDtypeStruct(a.x.shape, a.x.dtype)
        ),
        grid=lambda a: a.x.shape[0],
        block=lambda a: a.x.shape[1],
    )
    low, high = jax.jit(lambda x: several(x, 1))(jax.numpy.array([[1.0, -2.0]]))
    assert (low.tolist(), high.tolist()) == ([[0, -2]], [[1, 0]])
    with pytest.raises(OptionError, match="JAX's arrays are constant"):
        amdjit.jax.custom_call(add_in_place, outputs={}, n=1)
