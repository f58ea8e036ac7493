"""Random Python functions: valid syntax, little sense. Most of what kernels refuse, and much of
what they take."""

from __future__ import annotations

import ast
from random import Random

NAMES = [
    "a",
    "b",
    "c",
    "d",
    "n",
    "x",
    "y",
    "i32",
    "f32",
    "f16",
    "u8",
    "boolean",
    "f32x4",
    "grid",
    "threadIdx",
    "shared",
    "local",
    "atomic",
    "range",
    "static_range",
    "unroll",
    "len",
    "abs",
    "min",
    "max",
    "round",
    "enumerate",
    "zip",
    "reversed",
    "int",
    "float",
    "bool",
    "print",
    "isinstance",
    "syncthreads",
    "bitcast",
    "shuffle",
    "vector",
    "unknown",
    "lane_id",
]
PLAIN = ("a", "b", "c", "x", "y", "n", "d")
CONSTANTS = (
    0,
    1,
    2,
    -1,
    3,
    7,
    0.5,
    1e30,
    2**31,
    2**40,
    2**70,
    True,
    False,
    None,
    "text",
    b"bytes",
    1j,
    ...,
    "x",
)
ATTRIBUTES = (
    "x",
    "shape",
    "size",
    "ndim",
    "dtype",
    "load",
    "store",
    "add",
    "array",
    "dynamic",
    "T",
    "unknown",
)
_BINARY = (
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.BitAnd,
    ast.LShift,
    ast.MatMult,
)
_COMPARE = (ast.Lt, ast.Eq, ast.GtE, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)


def random_function(random: Random) -> str:
    """Return the source of `random_function`, and a helper that it may call."""
    parameters = random.choice(("p", "p, q=2", "p", "p=1", "p, *, q: f32 = 1.0", "p: f32, /", "*p"))
    helper = f"def helper({parameters}):\n    a = c = local.array(8, i32)\n    x = y = d = n = p\n"
    helper += _indented(_block(random, 1)) + f"    return {ast.unparse(_sensible(random, 2))}\n"
    annotation = random.choice(
        ("", "", "", "", "", ": i32", ": 'i32'", ": f32", ": int", ": 'no type'", ": Const")
    )
    source = (
        f"def random_function(a, b{annotation}, c, d):\n    n = 5\n    x = y = d\n"
        + _indented(_block(random, 3))
    )
    return f"{helper}\n{source}"


def _indented(statements: list[ast.stmt]) -> str:
    module = ast.Module(statements, [])
    lines = ast.unparse(ast.fix_missing_locations(module)).splitlines()
    return "".join(f"    {line}\n" for line in lines)


def _block(random: Random, depth: int) -> list[ast.stmt]:
    return [_statement(random, depth) for _ in range(random.randint(1, 3))]


def _statement(random: Random, depth: int) -> ast.stmt:
    kinds = [_assign] * 6 + [_store] * 4 + [_augment, _annotate, _call_statement, _leave]
    kinds += [_if, _if, _for, _for, _while] if depth > 0 else []
    kinds = [_odd] if depth > 0 and random.random() < 0.02 else kinds
    return random.choice(kinds)(random, depth)


def _assign(random: Random, depth: int) -> ast.stmt:
    targets = [_target(random) for _ in range(random.choice((1, 1, 1, 1, 2)))]
    return ast.Assign(targets, _expression(random, 3))


def _target(random: Random) -> ast.expr:
    name = ast.Name(random.choice("xxyyydn"), ast.Store())
    if random.random() < 0.95:
        return name
    if random.random() < 0.5:
        return ast.Tuple([name, _target(random)], ast.Store())
    return random.choice(
        (ast.Attribute(_name(random), "x", ast.Store()), ast.Starred(name, ast.Store()))
    )


def _store(random: Random, depth: int) -> ast.stmt:
    index = ast.Name("n", ast.Load()) if random.random() < 0.7 else _index(random)
    element = ast.Subscript(ast.Name(random.choice("aaac"), ast.Load()), index, ast.Store())
    return ast.Assign([element], _expression(random, 3))


def _augment(random: Random, depth: int) -> ast.stmt:
    place: ast.expr = ast.Name(random.choice(PLAIN), ast.Store())
    if random.random() < 0.5:
        place = ast.Subscript(_name(random), _index(random), ast.Store())
    return ast.AugAssign(place, random.choice(_BINARY)(), _expression(random, 2))


def _annotate(random: Random, depth: int) -> ast.stmt:
    value = _expression(random, 2) if random.random() < 0.8 else None
    return ast.AnnAssign(
        ast.Name(random.choice(PLAIN), ast.Store()), _expression(random, 1), value, 1
    )


def _call_statement(random: Random, depth: int) -> ast.stmt:
    return ast.Expr(_call(random, 2))


def _leave(random: Random, depth: int) -> ast.stmt:
    value = _expression(random, 1) if random.random() < 0.3 else None
    return random.choice((ast.Return(value), ast.Pass(), ast.Pass()))


def _if(random: Random, depth: int) -> ast.stmt:
    return ast.If(
        _expression(random, 2),
        _block(random, depth - 1),
        random.choice(([], _block(random, depth - 1))),
    )


def _for(random: Random, depth: int) -> ast.stmt:
    target = (
        ast.Name(random.choice(PLAIN), ast.Store()) if random.random() < 0.9 else _target(random)
    )
    calls = ("range", "range", "static_range", "enumerate", "zip", "reversed", "unroll")
    iterable: ast.expr = ast.Call(
        ast.Name(random.choice(calls), ast.Load()),
        [_expression(random, 1) for _ in range(random.randint(0, 3))],
        [],
    )
    if random.random() < 0.2:
        iterable = _expression(random, 2)
    return ast.For(
        target, iterable, _loop_body(random, depth), random.choice(([], _block(random, 0)))
    )


def _while(random: Random, depth: int) -> ast.stmt:
    return ast.While(
        _expression(random, 2), _loop_body(random, depth), random.choice(([], _block(random, 0)))
    )


def _loop_body(random: Random, depth: int) -> list[ast.stmt]:
    body = _block(random, depth - 1)
    if random.random() < 0.5:
        leave = random.choice((ast.Break(), ast.Continue()))
        body.insert(
            random.randint(0, len(body)),
            random.choice((leave, ast.If(_expression(random, 1), [leave], []))),
        )
    return body


def _odd(random: Random, depth: int) -> ast.stmt:
    body = _block(random, 0)
    return random.choice(
        (
            ast.With([ast.withitem(_name(random))], body),
            ast.Try(body, [ast.ExceptHandler(None, None, body)], [], []),
            ast.Assert(_expression(random, 1)),
            ast.Delete([ast.Name("x", ast.Del())]),
            ast.Global(["zzz"]),
            ast.Import([ast.alias("math")]),
            ast.Raise(_name(random)),
            ast.FunctionDef(
                "inner", ast.arguments([], [], None, [], [], None, []), body, [], None, None
            ),
        )
    )


def _expression(random: Random, depth: int) -> ast.expr:
    if random.random() < 0.8:
        return _sensible(random, depth)
    if depth <= 0 or random.random() < 0.25:
        return random.choice((_name, _name, _constant))(random)
    kinds = [
        _binary,
        _binary,
        _compare,
        _call,
        _call,
        _subscript,
        _subscript,
        _unary,
        _boolean,
        _conditional,
    ]
    kinds += [_attribute, _tuple, _strange]
    return random.choice(kinds)(random, depth - 1)


_SENSIBLE_CALLS = (
    "abs({0})", "min({0}, {1})", "max({0}, 3)", "f32({0})", "i32({0})", "f16({0})", "u8({0})",
    "grid(1)", "len(a)",
    "int({0})", "float({0})", "bool({0})", "a.shape[0]", "a[i32({0})]", "c[n]", "helper({0})",
    "round(f32({0}))",
    "bitcast(f32({0}), i32)", "threadIdx.x", "f32x4({0})", "f32x4({0})[1]", "lane_id()",
    "(x, {0})[0]", "syncthreads()",
    "local.array(4, f32)", "shared.array((2, 3), f16)[1, 2]", "atomic.add(c, 0, 1)",
    "isinstance({0}, int)",
)  # fmt: skip


def _sensible(random: Random, depth: int) -> ast.expr:
    """Write an expression of numbers, most of the time one that has a meaning."""
    if depth <= 0 or random.random() < 0.3:
        return random.choice((_constant, lambda r: ast.Name(r.choice("dnxy"), ast.Load())))(random)
    left, right = _sensible(random, depth - 1), _sensible(random, depth - 1)
    if random.random() < 0.4:
        text = random.choice(_SENSIBLE_CALLS).format(ast.unparse(left), ast.unparse(right))
        return ast.parse(text, mode="eval").body
    if random.random() < 0.2:
        return ast.Compare(left, [random.choice(_COMPARE[:4])()], [right])
    if random.random() < 0.2:
        return ast.IfExp(_sensible(random, depth - 1), left, right)
    return ast.BinOp(left, random.choice(_BINARY[:5])(), right)


def _name(random: Random) -> ast.expr:
    return ast.Name(random.choice(PLAIN if random.random() < 0.7 else NAMES), ast.Load())


def _constant(random: Random) -> ast.expr:
    return ast.Constant(random.choice(CONSTANTS[:9] if random.random() < 0.8 else CONSTANTS))


def _binary(random: Random, depth: int) -> ast.expr:
    return ast.BinOp(
        _expression(random, depth), random.choice(_BINARY)(), _expression(random, depth)
    )


def _compare(random: Random, depth: int) -> ast.expr:
    count = random.choice((1, 1, 2))
    operators: list[ast.cmpop] = [random.choice(_COMPARE)() for _ in range(count)]
    return ast.Compare(
        _expression(random, depth), operators, [_expression(random, depth) for _ in range(count)]
    )


def _call(random: Random, depth: int) -> ast.expr:
    callee = random.choice((_callee, _callee, _name, lambda r: _attribute(r, 1)))(random)
    arguments = [_expression(random, depth) for _ in range(random.randint(0, 3))]
    if arguments and random.random() < 0.1:
        arguments[-1] = ast.Starred(arguments[-1], ast.Load())
    keywords = [ast.keyword(random.choice(("q", "x", "dtype", None)), _expression(random, 1))]
    return ast.Call(callee, arguments, keywords if random.random() < 0.1 else [])


def _callee(random: Random) -> ast.expr:
    return ast.Name(random.choice((*NAMES[7:], "helper", "helper", "helper")), ast.Load())


def _subscript(random: Random, depth: int) -> ast.expr:
    return ast.Subscript(_expression(random, min(depth, 1)), _index(random), ast.Load())


def _index(random: Random) -> ast.expr:
    if random.random() < 0.1:
        return ast.Slice(None, random.choice((None, _expression(random, 1))), None)
    if random.random() < 0.2:
        return ast.Tuple([_expression(random, 1), _expression(random, 1)], ast.Load())
    return _expression(random, 1)


def _unary(random: Random, depth: int) -> ast.expr:
    return ast.UnaryOp(
        random.choice((ast.USub, ast.Not, ast.Invert, ast.UAdd))(), _expression(random, depth)
    )


def _boolean(random: Random, depth: int) -> ast.expr:
    return ast.BoolOp(
        random.choice((ast.And, ast.Or))(), [_expression(random, depth) for _ in range(2)]
    )


def _conditional(random: Random, depth: int) -> ast.expr:
    return ast.IfExp(
        _expression(random, depth), _expression(random, depth), _expression(random, depth)
    )


def _attribute(random: Random, depth: int) -> ast.expr:
    return ast.Attribute(_expression(random, min(depth, 1)), random.choice(ATTRIBUTES), ast.Load())


def _tuple(random: Random, depth: int) -> ast.expr:
    return ast.Tuple([_expression(random, depth) for _ in range(random.randint(0, 3))], ast.Load())


def _strange(random: Random, depth: int) -> ast.expr:
    inner = _expression(random, depth)
    target = ast.Name("x", ast.Store())
    rounds = [ast.comprehension(target, inner, [], 0)]
    return random.choice(
        (
            ast.List([inner], ast.Load()),
            ast.Dict([inner], [inner]),
            ast.Set([inner]),
            ast.ListComp(inner, rounds),
            ast.GeneratorExp(inner, rounds),
            ast.NamedExpr(target, inner),
            ast.JoinedStr([ast.FormattedValue(inner, -1, None)]),
            ast.Lambda(ast.arguments([], [], None, [], [], None, []), inner),
        )
    )
