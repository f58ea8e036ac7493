"""LlvmCall, InlineAsm and Emit hand LLVM exactly what a declaration says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from amdjit.declarations import Emit, Intrinsic, LlvmCall, intrinsic
from amdjit.diagnostics.errors import InternalError
from amdjit.tree import nodes as tree
from amdjit.types import (
    VOID,
    AddressSpace,
    Immediate,
    Pointer,
    Type,
    Vector,
    boolean,
    f16,
    f32,
    f64,
    i16,
    i32,
    i64,
)
from tests.lowering.llvm_tools import assembly, requires_llvm, verified
from tests.tree.trees import (
    HERE,
    array,
    call,
    do,
    function,
    lowered,
    number,
    read,
    shared,
    store,
    variable,
)

pytestmark = requires_llvm


def of_one_value(function_of: Intrinsic, *arguments: Any, result: Type = i32) -> str:
    """Return the IR of a kernel that stores the intrinsic's result."""
    out = variable("out", array(result))
    return lowered(
        function(
            "k",
            (out,),
            store(read(out), (number(0),), call(function_of, *arguments, result=result)),
        )
    )


def test_a_string_is_no_operand() -> None:
    @intrinsic(LlvmCall("llvm.amdgcn.s.sleep"))
    def sleep(duration: Annotated[int, Immediate(0, 127)]) -> VOID:  # type: ignore[valid-type]
        """Wait a while."""

    with pytest.raises(InternalError, match="duration='x'"):
        lowered(function("k", (variable("out", array(i32)),), do(call(sleep, "x"))))


def with_pointer(element: Type, result: Type, space: AddressSpace, emit: Callable[..., Any]) -> str:
    """Return the machine code of: out[0] = emit(context, address of an element, value)."""
    memory = array(element) if space is AddressSpace.GLOBAL else shared(element, 16)
    pointer = Pointer(element, space)

    def declare() -> Intrinsic:
        def body(p: Any, v: Any) -> Any: ...

        body.__annotations__ = {"p": pointer, "v": element, "return": result}
        return intrinsic(Emit(emit))(body)

    v, out, a = variable("v", element), variable("out", array(result)), variable("a", memory)
    base = read(a) if space is AddressSpace.GLOBAL else tree.AllocateArray(HERE, memory, "tile")
    address = tree.AddressOf(HERE, pointer, base, (number(3),))
    parameters = (a, v, out) if space is AddressSpace.GLOBAL else (v, out)
    text = lowered(
        function(
            "k",
            parameters,
            store(read(out), (number(0),), call(declare(), address, read(v), result=result)),
        )
    )
    verified(text)
    return assembly(text)


UPDATES = [
    ("add", i32, "atomic_add"),
    ("sub", i32, "atomic_sub"),
    ("umax", i32, "atomic_max_u32"),
    ("min", i64, "atomic_min_i64"),
    ("and", i32, "atomic_and"),
    ("xchg", i32, "atomic_swap"),
    ("uinc_wrap", i32, "atomic_inc"),
    ("fadd", f32, "atomic_add_f32"),
    ("fmax", f32, "atomic_max_num_f32"),
    ("fadd", Vector(f16, 2), "atomic_pk_add_f16"),
    ("fadd", f64, "atomic_cmpswap_b64"),
]


@pytest.mark.parametrize(("operation", "type", "isa"), UPDATES, ids=lambda value: str(value))
def test_atomic_updates_are_native_where_the_target_has_them(
    operation: str, type: Any, isa: str
) -> None:
    def emit(context: Any, pointer: Any, value: Any) -> Any:
        return context.atomic_update(operation, pointer, value, "monotonic", "agent")

    assert "global_" + isa in with_pointer(type, type, AddressSpace.GLOBAL, emit)


def test_atomic_updates_of_lds() -> None:
    def emit(context: Any, pointer: Any, value: Any) -> Any:
        return context.atomic_update("fadd", pointer, value, "acq_rel", "workgroup")

    assert "ds_add_rtn_f32" in with_pointer(f32, f32, AddressSpace.LDS, emit)


@pytest.mark.parametrize("ordering", ["monotonic", "acquire", "release", "acq_rel", "seq_cst"])
def test_compare_and_exchange_returns_the_old_value(ordering: str) -> None:
    def emit(context: Any, pointer: Any, value: Any) -> Any:
        return context.atomic_compare_exchange(
            pointer, value, context.constant(i32, 5), ordering, "agent"
        )

    code = with_pointer(i32, i32, AddressSpace.GLOBAL, emit)
    assert "global_atomic_cmpswap_b32" in code
    assert "TH_ATOMIC_RETURN" in code


@pytest.mark.parametrize(
    ("scope", "bits"), [("", "SCOPE_SYS"), ("agent", "SCOPE_DEV"), ("workgroup", "SCOPE_SE")]
)
def test_atomic_loads_and_stores_have_their_scope(scope: str, bits: str) -> None:
    def emit(context: Any, pointer: Any, value: Any) -> Any:
        context.atomic_store(i32, pointer, value, "release", scope)
        return context.atomic_load(i32, pointer, "acquire", scope)

    assert bits in with_pointer(i32, i32, AddressSpace.GLOBAL, emit)


def test_volatile_accesses_stay() -> None:
    def emit(context: Any, pointer: Any, value: Any) -> Any:
        context.store(i32, pointer, value, volatile=True)
        context.load(i32, pointer, volatile=True)
        return context.load(i32, pointer, alignment=4)

    code = with_pointer(i32, i32, AddressSpace.GLOBAL, emit)
    assert code.count("global_load_b32") + code.count("flat_load_b32") >= 1


def test_booleans_are_bytes_in_memory_and_bits_in_registers() -> None:
    def emit(context: Any, pointer: Any, value: Any) -> Any:
        context.store(boolean, pointer, value)
        return context.load(boolean, pointer)

    assert "global_store_b8" in with_pointer(boolean, boolean, AddressSpace.GLOBAL, emit)


def test_a_context_tells_what_it_is_called_for() -> None:
    seen: list[Any] = []

    def emit(context: Any, a: Any, count: int) -> Any:
        seen.extend(
            [
                context.types,
                context.result_type,
                context.target.name,
                context.wavefront_size,
                context.block,
            ]
        )
        seen.append(count)
        return context.bitcast(a, context.llvm_type(i32))

    @intrinsic(Emit(emit))
    def bits(a: f32, count: Annotated[int, Immediate(0, 9)]) -> i32:  # type: ignore[valid-type]
        """Return the bits."""

    out = variable("out", array(i32))
    kernel = function("k", (out,), store(read(out), (number(0),), call(bits, number(1.0, f32), 4)))
    lowered(kernel, block=(8, 4))
    assert seen == [(f32,), i32, "gfx1201", 32, (8, 4, 1), 4]


@pytest.mark.parametrize(("offset", "bits"), [(0, 32), (12, 16), (64, 16), (120, 32), (80, 64)])
def test_implicit_arguments_are_read_from_the_launch(offset: int, bits: int) -> None:
    type = {16: i16, 32: i32, 64: i64}[bits]

    read_it = intrinsic(Emit(lambda context: context.implicit_argument(offset, bits)))(
        _nothing(type)
    )
    text = of_one_value(read_it, result=type)
    verified(text)
    assert "invariant.load" in text


def _nothing(result: Type) -> Callable[[], Any]:
    def body() -> Any: ...

    body.__annotations__ = {"return": result}
    return body


def test_an_implicit_argument_of_odd_width_is_refused() -> None:
    read_it = intrinsic(Emit(lambda context: context.implicit_argument(0, 24)))(_nothing(i32))
    with pytest.raises(InternalError, match="24 bits"):
        of_one_value(read_it)
