"""Random Python functions: valid syntax, little sense. Most of what kernels refuse, and much of what they take."""

from __future__ import annotations

import ast
from random import Random

NAMES = (
    "a b c d n x y i32 f32 f16 u8 boolean f32x4 grid threadIdx shared local atomic range static_range unroll len abs min "
    "max round enumerate zip reversed int float bool print isinstance syncthreads bitcast shuffle vector unknown lane_id"
).split()
PLAIN = ("a", "b", "c", "x", "y", "n", "d")
CONSTANTS = (0, 1, 2, -1, 3, 7, 0.5, 1e30, 2**31, 2**40, 2**70, True, False, None, "text", b"bytes", 1j, ..., "x")
ATTRIBUTES = ("x", "shape", "size", "ndim", "dtype", "load", "store", "add", "array", "dynamic", "T", "unknown")
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.LShift, ast.MatMult)
_COMPARE = (ast.Lt, ast.Eq, ast.GtE, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)


def random_function(random: Random) -> str:
    """Return the source of `random_function`, and a helper that it may call."""
    helper = f"def helper({random.choice(('p', 'p, q=2', '*p', 'p, *, q: f32 = 1.0', 'p: f32, /', ''))}):\n"
    helper += _indented(_block(random, 1))
    annotation = random.choice(("", ": f32", ": f32[:]", ": Const", ": 'i32'", ": int", ": 'no type'", ""))
    source = f"def random_function(a, b{annotation}, c, d):\n" + _indented(_block(random, 3))
    return f"{helper}\n{source}"


def _indented(statements: list[ast.stmt]) -> str:
    module = ast.Module(statements, [])
    lines = ast.unparse(ast.fix_missing_locations(module)).splitlines()
    return "".join(f"    {line}\n" for line in lines)


def _block(random: Random, depth: int) -> list[ast.stmt]:
    return [_statement(random, depth) for _ in range(random.randint(1, 4))]


def _statement(random: Random, depth: int) -> ast.stmt:
    kinds = [_assign] * 6 + [_store] * 4 + [_augment, _annotate, _call_statement, _leave]
    kinds += [_if, _for, _while, _odd] if depth > 0 else []
    return random.choice(kinds)(random, depth)


def _assign(random: Random, depth: int) -> ast.stmt:
    targets = [_target(random) for _ in range(random.choice((1, 1, 1, 1, 2)))]
    return ast.Assign(targets, _expression(random, 3))


def _target(random: Random) -> ast.expr:
    name = ast.Name(random.choice(PLAIN), ast.Store())
    if random.random() < 0.8:
        return name
    if random.random() < 0.5:
        return ast.Tuple([name, _target(random)], ast.Store())
    return random.choice((ast.Attribute(_name(random), "x", ast.Store()), ast.Starred(name, ast.Store())))


def _store(random: Random, depth: int) -> ast.stmt:
    element = ast.Subscript(ast.Name(random.choice("abcd"), ast.Load()), _index(random), ast.Store())
    return ast.Assign([element], _expression(random, 3))


def _augment(random: Random, depth: int) -> ast.stmt:
    place: ast.expr = ast.Name(random.choice(PLAIN), ast.Store())
    if random.random() < 0.5:
        place = ast.Subscript(_name(random), _index(random), ast.Store())
    return ast.AugAssign(place, random.choice(_BINARY)(), _expression(random, 2))


def _annotate(random: Random, depth: int) -> ast.stmt:
    value = _expression(random, 2) if random.random() < 0.8 else None
    return ast.AnnAssign(ast.Name(random.choice(PLAIN), ast.Store()), _expression(random, 1), value, 1)


def _call_statement(random: Random, depth: int) -> ast.stmt:
    return ast.Expr(_call(random, 2))


def _leave(random: Random, depth: int) -> ast.stmt:
    value = _expression(random, 1) if random.random() < 0.3 else None
    return random.choice((ast.Return(value), ast.Pass(), ast.Pass()))


def _if(random: Random, depth: int) -> ast.stmt:
    return ast.If(_expression(random, 2), _block(random, depth - 1), random.choice(([], _block(random, depth - 1))))


def _for(random: Random, depth: int) -> ast.stmt:
    target = ast.Name(random.choice(PLAIN), ast.Store()) if random.random() < 0.9 else _target(random)
    calls = ("range", "range", "static_range", "enumerate", "zip", "reversed", "unroll")
    iterable: ast.expr = ast.Call(
        ast.Name(random.choice(calls), ast.Load()), [_expression(random, 1) for _ in range(random.randint(0, 3))], []
    )
    if random.random() < 0.2:
        iterable = _expression(random, 2)
    return ast.For(target, iterable, _loop_body(random, depth), random.choice(([], _block(random, 0))))


def _while(random: Random, depth: int) -> ast.stmt:
    return ast.While(_expression(random, 2), _loop_body(random, depth), random.choice(([], _block(random, 0))))


def _loop_body(random: Random, depth: int) -> list[ast.stmt]:
    body = _block(random, depth - 1)
    if random.random() < 0.5:
        leave = random.choice((ast.Break(), ast.Continue()))
        body.insert(random.randint(0, len(body)), random.choice((leave, ast.If(_expression(random, 1), [leave], []))))
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
            ast.FunctionDef("inner", ast.arguments([], [], None, [], [], None, []), body, [], None, None),
        )
    )


def _expression(random: Random, depth: int) -> ast.expr:
    if depth <= 0 or random.random() < 0.25:
        return random.choice((_name, _name, _constant))(random)
    kinds = [_binary, _binary, _compare, _call, _call, _subscript, _subscript, _unary, _boolean, _conditional]
    kinds += [_attribute, _tuple, _strange]
    return random.choice(kinds)(random, depth - 1)


def _name(random: Random) -> ast.expr:
    return ast.Name(random.choice(PLAIN if random.random() < 0.7 else NAMES), ast.Load())


def _constant(random: Random) -> ast.expr:
    return ast.Constant(random.choice(CONSTANTS[:9] if random.random() < 0.8 else CONSTANTS))


def _binary(random: Random, depth: int) -> ast.expr:
    return ast.BinOp(_expression(random, depth), random.choice(_BINARY)(), _expression(random, depth))


def _compare(random: Random, depth: int) -> ast.expr:
    count = random.choice((1, 1, 2))
    operators: list[ast.cmpop] = [random.choice(_COMPARE)() for _ in range(count)]
    return ast.Compare(_expression(random, depth), operators, [_expression(random, depth) for _ in range(count)])


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
    return ast.UnaryOp(random.choice((ast.USub, ast.Not, ast.Invert, ast.UAdd))(), _expression(random, depth))


def _boolean(random: Random, depth: int) -> ast.expr:
    return ast.BoolOp(random.choice((ast.And, ast.Or))(), [_expression(random, depth) for _ in range(2)])


def _conditional(random: Random, depth: int) -> ast.expr:
    return ast.IfExp(_expression(random, depth), _expression(random, depth), _expression(random, depth))


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
