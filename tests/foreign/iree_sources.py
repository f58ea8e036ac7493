"""Programs for IREE's compiler, in MLIR's linalg dialect."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"fp8": "f8E4M3FN", "bf8": "f8E5M2"}


def _tensor(shape: tuple[Any, ...], kind: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{_TYPES.get(kind, kind)}>"


def _constant(kind: str, value: float) -> str:
    kind = _TYPES.get(kind, kind)
    return f"{int(value)} : {kind}" if kind.startswith("i") else f"{float(value)!r} : {kind}"


def _multiply_add(kind: str, total: str) -> str:
    """Return the body of a product's sum: operands become the sum's type first."""
    left, right = "%l", "%r"
    lines = []
    if kind != total:
        extend = "arith.extsi" if kind.startswith("i") else "arith.extf"
        source = _TYPES.get(kind, kind)
        lines = [
            f"%le = {extend} %l : {source} to {total}",
            f"%re = {extend} %r : {source} to {total}",
        ]
        left, right = "%le", "%re"
    suffix = "i" if total.startswith("i") else "f"
    lines += [
        f"%p = arith.mul{suffix} {left}, {right} : {total}",
        f"%s = arith.add{suffix} %o, %p : {total}",
    ]
    return "\n".join([*lines, f"linalg.yield %s : {total}"])


def _filled(name: str, shape: tuple[int, ...], kind: str, value: float = 0) -> str:
    tensor = _tensor(shape, kind)
    return f"""
  %{name}_value = arith.constant {_constant(kind, value)}
  %{name}_empty = tensor.empty() : {tensor}
  %{name} = linalg.fill ins(%{name}_value : {_TYPES.get(kind, kind)})
      outs(%{name}_empty : {tensor}) -> {tensor}"""


def matmul(size: tuple[int, int, int], kind: str, total: str, transposed: bool) -> str:
    """Return C = A B of fixed sizes."""
    m, n, k = size
    a, b, c = (
        _tensor((m, k), kind),
        _tensor((n, k) if transposed else (k, n), kind),
        _tensor((m, n), total),
    )
    right = "(n, k)" if transposed else "(k, n)"
    maps = ", ".join(f"affine_map<(m, n, k) -> {place}>" for place in ("(m, k)", right, "(m, n)"))
    element = _TYPES.get(kind, kind)
    return f"""
func.func @main(%a: {a}, %b: {b}) -> {c} {{{_filled("zero", (m, n), total)}
  %c = linalg.generic {{indexing_maps = [{maps}],
                       iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%a, %b : {a}, {b}) outs(%zero : {c}) {{
  ^bb0(%l: {element}, %r: {element}, %o: {total}):
    {_multiply_add(kind, total)}
  }} -> {c}
  return %c : {c}
}}"""


def dynamic_matmul(kind: str) -> str:
    """Return C = A B of sizes that the caller gives."""
    a, c = _tensor(("?", "?"), kind), _tensor(("?", "?"), "f32")
    return f"""
func.func @main(%a: {a}, %b: {a}) -> {c} {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %m = tensor.dim %a, %i0 : {a}
  %n = tensor.dim %b, %i1 : {a}
  %value = arith.constant 0.0 : f32
  %empty = tensor.empty(%m, %n) : {c}
  %zero = linalg.fill ins(%value : f32) outs(%empty : {c}) -> {c}
  %c = linalg.matmul ins(%a, %b : {a}, {a}) outs(%zero : {c}) -> {c}
  return %c : {c}
}}"""


def convolution(
    image: tuple[int, ...], window: tuple[int, ...], stride: int, border: int, kind: str, total: str
) -> str:
    """Return a convolution of NHWC with HWCF, with a border of zeros."""
    count, height, width, channels = image
    tall, broad = height + 2 * border, width + 2 * border
    x, padded = _tensor(image, kind), _tensor((count, tall, broad, channels), kind)
    w = _tensor((*window[:2], channels, window[2]), kind)
    result = (count, (tall - window[0]) // stride + 1, (broad - window[1]) // stride + 1, window[2])
    out = _tensor(result, total)
    return f"""
func.func @main(%x: {x}, %w: {w}) -> {out} {{
  %outside = arith.constant {_constant(kind, 0)}
  %padded = tensor.pad %x low[0, {border}, {border}, 0] high[0, {border}, {border}, 0] {{
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %outside : {kind}
  }} : {x} to {padded}{_filled("zero", result, total)}
  %r = linalg.conv_2d_nhwc_hwcf {{strides = dense<{stride}> : tensor<2xi64>,
                                 dilations = dense<1> : tensor<2xi64>}}
    ins(%padded, %w : {padded}, {w}) outs(%zero : {out}) -> {out}
  return %r : {out}
}}"""


def softmax(shape: tuple[int, int], kind: str, static: bool) -> str:
    """Return the softmax of rows, of fixed sizes or not."""
    x = _tensor(shape if static else ("?", "?"), kind)
    sizes = "" if static else "%m, %n"
    extents = "" if static else f"%m = tensor.dim %x, %i0 : {x}\n  %n = tensor.dim %x, %i1 : {x}"
    return f"""
func.func @main(%x: {x}) -> {x} {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  {extents}
  %empty = tensor.empty({sizes}) : {x}
  %r = linalg.softmax dimension(1) ins(%x : {x}) outs(%empty : {x}) -> {x}
  return %r : {x}
}}"""


def attention(shape: tuple[int, int, int], kind: str, scale: float) -> str:
    """Return IREE's fused attention."""
    x = _tensor(shape, kind)
    maps = ["(b, m, k)", "(b, n, k)", "(b, n, d)", "()", "(b, m, d)"]
    affine = ", ".join(f"affine_map<(b, m, d, n, k) -> {places}>" for places in maps)
    return f"""
func.func @main(%q: {x}, %k: {x}, %v: {x}) -> {x} {{
  %scale = arith.constant {scale!r} : {kind}
  %empty = tensor.empty() : {x}
  %r = iree_linalg_ext.attention <{{indexing_maps = [{affine}]}}>
    ins(%q, %k, %v, %scale : {x}, {x}, {x}, {kind}) outs(%empty : {x}) {{
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  }} -> {x}
  return %r : {x}
}}"""


def reduction(shape: tuple[int, int], kind: str, operation: str, start: int) -> str:
    """Return the reduction of rows by an operation of MLIR's."""
    x, out = _tensor(shape, kind), _tensor(shape[:1], kind)
    return f"""
func.func @main(%x: {x}) -> {out} {{{_filled("start", shape[:1], kind, start)}
  %r = linalg.reduce ins(%x : {x}) outs(%start : {out}) dimensions = [1]
    (%in: {kind}, %sum: {kind}) {{
      %next = {operation} %in, %sum : {kind}
      linalg.yield %next : {kind}
    }}
  return %r : {out}
}}"""


def layer_norm(shape: tuple[int, int]) -> str:
    """Return a layer norm of f32 as three loops, which IREE fuses as it likes."""
    x, row, column = _tensor(shape, "f32"), _tensor(shape[1:], "f32"), _tensor(shape[:1], "f32")
    whole, down, across = (f"affine_map<(i, j) -> {places}>" for places in ("(i, j)", "(i)", "(j)"))
    size = float(shape[1])
    sums = 'iterator_types = ["parallel", "reduction"]'
    return f"""
func.func @main(%x: {x}, %weight: {row}, %bias: {row}) -> {x} {{
  %size = arith.constant {size!r} : f32
  %epsilon = arith.constant 1.0e-5 : f32{_filled("zero", shape[:1], "f32")}
  %empty = tensor.empty() : {x}
  %total = linalg.generic {{indexing_maps = [{whole}, {down}], {sums}}}
    ins(%x : {x}) outs(%zero : {column}) {{
  ^bb0(%in: f32, %sum: f32):
    %next = arith.addf %in, %sum : f32
    linalg.yield %next : f32
  }} -> {column}
  %squares = linalg.generic {{indexing_maps = [{whole}, {down}, {down}], {sums}}}
    ins(%x, %total : {x}, {column}) outs(%zero : {column}) {{
  ^bb0(%in: f32, %t: f32, %sum: f32):
    %mean = arith.divf %t, %size : f32
    %centred = arith.subf %in, %mean : f32
    %square = arith.mulf %centred, %centred : f32
    %next = arith.addf %square, %sum : f32
    linalg.yield %next : f32
  }} -> {column}
  %r = linalg.generic {{indexing_maps = [{whole}, {down}, {down}, {across}, {across}, {whole}],
      iterator_types = ["parallel", "parallel"]}}
    ins(%x, %total, %squares, %weight, %bias : {x}, {column}, {column}, {row}, {row})
    outs(%empty : {x}) {{
  ^bb0(%in: f32, %t: f32, %q: f32, %w: f32, %b: f32, %o: f32):
    %mean = arith.divf %t, %size : f32
    %centred = arith.subf %in, %mean : f32
    %variance = arith.divf %q, %size : f32
    %safe = arith.addf %variance, %epsilon : f32
    %factor = math.rsqrt %safe : f32
    %scaled = arith.mulf %centred, %factor : f32
    %weighted = arith.mulf %scaled, %w : f32
    %shifted = arith.addf %weighted, %b : f32
    linalg.yield %shifted : f32
  }} -> {x}
  return %r : {x}
}}"""


def reference_of(function: str) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return what NumPy computes for a function of `elementwise`."""
    functions: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
        "erf": np.vectorize(math.erf),
        "rsqrt": lambda x: 1 / np.sqrt(x),
    }
    return functions.get(function) or getattr(np, function)  # type: ignore[no-any-return]


def elementwise(count: int, function: str) -> str:
    """Return a function of MLIR's math dialect on each element."""
    x = _tensor((count,), "f32")
    maps = "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>"
    return f"""
func.func @main(%x: {x}) -> {x} {{
  %empty = tensor.empty() : {x}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
    ins(%x : {x}) outs(%empty : {x}) {{
  ^bb0(%in: f32, %out: f32):
    %y = math.{function} %in : f32
    linalg.yield %y : f32
  }} -> {x}
  return %r : {x}
}}"""


def perceptron(rows: int, inputs: int, hidden: int, outputs: int) -> str:
    """Return two products of f16 with a bias and a ReLU in between."""
    x, first = _tensor((rows, inputs), "f16"), _tensor((inputs, hidden), "f16")
    second, bias = _tensor((hidden, outputs), "f16"), _tensor((hidden,), "f32")
    middle, narrow, out = (
        _tensor((rows, hidden), "f32"),
        _tensor((rows, hidden), "f16"),
        _tensor((rows, outputs), "f32"),
    )
    whole, across = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (j)>"
    return f"""
func.func @main(%x: {x}, %first: {first}, %bias: {bias}, %second: {second}) -> {out} {{
  %floor = arith.constant 0.0 : f32{_filled("zero", (rows, hidden), "f32")}{
        _filled("none", (rows, outputs), "f32")
    }
  %h = linalg.matmul ins(%x, %first : {x}, {first}) outs(%zero : {middle}) -> {middle}
  %empty = tensor.empty() : {narrow}
  %active = linalg.generic {{indexing_maps = [{whole}, {across}, {whole}],
                            iterator_types = ["parallel", "parallel"]}}
    ins(%h, %bias : {middle}, {bias}) outs(%empty : {narrow}) {{
  ^bb0(%in: f32, %b: f32, %o: f16):
    %shifted = arith.addf %in, %b : f32
    %positive = arith.maximumf %shifted, %floor : f32
    %half = arith.truncf %positive : f32 to f16
    linalg.yield %half : f16
  }} -> {narrow}
  %r = linalg.matmul ins(%active, %second : {narrow}, {second}) outs(%none : {out}) -> {out}
  return %r : {out}
}}"""


def transpose(shape: tuple[int, int], kind: str) -> str:
    """Return the transpose."""
    x, out = _tensor(shape, kind), _tensor(shape[::-1], kind)
    return f"""
func.func @main(%x: {x}) -> {out} {{
  %empty = tensor.empty() : {out}
  %r = linalg.transpose ins(%x : {x}) outs(%empty : {out}) permutation = [1, 0]
  return %r : {out}
}}"""


def sort(shape: tuple[int, int], kind: str) -> str:
    """Return the rows, each sorted."""
    x = _tensor(shape, kind)
    return f"""
func.func @main(%x: {x}) -> {x} {{
  %r = iree_linalg_ext.sort dimension(1) outs(%x : {x}) {{
  ^bb0(%a: {kind}, %b: {kind}):
    %less = arith.cmpi slt, %a, %b : {kind}
    iree_linalg_ext.yield %less : i1
  }} -> {x}
  return %r : {x}
}}"""
