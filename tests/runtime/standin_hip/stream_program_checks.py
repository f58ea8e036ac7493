"""Random programs of streams give what a host model gives: run, and captured and replayed.

On the emulator, and on HIP in many orders that HIP allows; test_streams_on_hip.py runs this in a
process of its own. A program from which a wait is left out gives something else in some such order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import standin
from graph_kernels import device as device
from stream_programs import Machine, model, program

import amdjit
from amdjit.runtime.device import Device

SEEDS = range(8)
# 0: the newest stream first, and nothing that is not waited for. Others: seeds of random orders.
ORDERS = (0, 1, 2)


@pytest.fixture(autouse=True)
def order_as_usual() -> Iterator[None]:
    yield
    standin.library().standin_set_order(0)


def orders(device: Device) -> tuple[int, ...]:
    return ORDERS if device.name == "hip:0" else (0,)


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_give_what_the_model_gives(device: Device, seed: int) -> None:
    steps = program(seed, 40)
    expected = model(steps)
    for order in orders(device):
        machine = Machine()
        standin.library().standin_set_order(order)
        machine.run(steps)
        assert machine.values() == expected[0]
        assert sorted(machine.noted) == expected[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_captured_programs_give_what_the_model_gives(device: Device, seed: int) -> None:
    steps = program(seed, 30)
    expected, noted = model(steps, times=3)
    for order in orders(device):
        machine = Machine()
        graph = machine.capture(steps)
        assert machine.values() == model([])[0]
        assert len(graph.nodes) == len(steps)
        standin.library().standin_set_order(order)
        executable = graph.instantiate()
        chance = random.Random(order)
        for _ in range(3):
            executable.launch(chance.choice(machine.streams))
        assert machine.values() == expected
        assert sorted(machine.noted) == sorted(noted)


@pytest.mark.parametrize("seed", SEEDS)
def test_updated_graphs_do_what_they_were_updated_to(device: Device, seed: int) -> None:
    steps = program(seed, 20)
    machine, other = Machine(), Machine()
    executable = machine.capture(steps).instantiate()
    executable.update(other.capture(steps))
    executable.launch(machine.streams[0])
    assert machine.values() == model([])[0]
    assert other.values() == model(steps)[0]


def test_edges_of_graphs_are_the_waits(device: Device) -> None:
    for seed in SEEDS:
        steps = program(seed, 30)
        graph = Machine().capture(steps)
        # A node follows the one before it in its stream.
        before: dict[int, amdjit.GraphNode] = {}
        for step, node in zip(steps, graph.nodes, strict=True):
            kinds = {"append": "kernel", "add": "kernel", "copy": "copy", "call": "host"}
            assert node.kind == kinds[step.kind]
            if step.stream in before:
                assert before[step.stream] in node.dependencies
            before[step.stream] = node


@pytest.mark.parametrize("is_captured", [False, True])
def test_a_wait_that_is_left_out_is_noticed(is_captured: bool) -> None:
    """Without a wait some legal order gives something else, unless that is overwritten later."""
    tried = noticed = 0
    with amdjit.use("hip:0"):
        for seed in SEEDS:
            steps = program(seed, 20)
            expected = model(steps)[0]
            for left_out in range(min(2, sum(len(step.waits) for step in steps))):
                tried += 1
                noticed += any(
                    differs(steps, left_out, order, expected, is_captured) for order in range(8)
                )
    assert tried > 12
    assert noticed > tried / 2


def differs(steps: list, left_out: int, order: int, expected: list[int], is_captured: bool) -> bool:
    """Return whether a program without one of its waits gives other values in some order."""
    machine = Machine()
    graph = machine.capture(steps, left_out) if is_captured else None
    standin.library().standin_set_order(order)
    if graph is None:
        machine.run(steps, left_out)
    else:
        graph.instantiate().launch()
    found = machine.values()
    standin.library().standin_set_order(0)
    return found != expected
