"""Random programs in Numba's CUDA dialect, each with `run(cuda) -> {name: array}`.

`run` makes its inputs from a seed, so that a program gives the same arrays wherever a module `cuda`
computes as Numba does: `python program_writer.py FOLDER COUNT SEED` writes them, and
`run_programs.py` stores what a module returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
REALS = ("float32", "float64")
OUTPUTS = (*INTEGERS, *REALS)
LITERALS = ("0", "1", "2", "3", "7", "-1", "-3", "100", "255", "-70000", "2147483647", "8589934593")
FLOATS = ("0.5", "2.0", "-1.25", "3.0", "0.0", "1e3", "-0.0")
HEAD = """\
import enum, math, numpy as np
class Color(enum.IntEnum):
    RED = 1
    GREEN = 5
    BLUE = -2
class Shape(enum.Enum):
    ROUND = 3
    SQUARE = 8
def run(cuda):
    @cuda.jit(device=True)
    def I(x):
        if x > -1e15 and x < 1e15:
            return np.int64(x)
        return np.int64(3)
    @cuda.jit(device=True)
    def F(x): return np.float64(x)
"""

Text = tuple[str, str]
"""An expression and what it is: "i" an integer of any width, "n" an integer or a float, "b" a truth
value."""


class Writer:
    """Writes one program."""

    def __init__(self, seed: str, ufuncs: bool = True) -> None:
        self.random, self.ufuncs = Random(seed), ufuncs
        self.lines: list[str] = []
        self.names: dict[str, str] = {}
        self.counters: list[str] = []
        self.next = 0
        choose = self.random.choice
        self.arrays = {
            f"a{k}": choose((*INTEGERS, *INTEGERS, *REALS, "bool_"))
            for k in range(choose((3, 4, 5)))
        }
        self.scalars = {
            f"s{k}": choose((*INTEGERS, *REALS, "int", "float", "bool"))
            for k in range(choose((1, 2, 3)))
        }
        self.has_record, self.has_single = self.random.random() < 0.25, self.random.random() < 0.2
        self.combined = choose(("add", "max", "min", "add"))
        self.totals = choose(("", "", "int32", "uint32", "uint64", "int64", "float32", "float64"))
        self.functions = {f"d{k}": choose((1, 2, 2, 3)) for k in range(choose((0, 1, 2)))}

    def program(self) -> str:
        """Return the source."""
        parts = [HEAD]
        for number, (name, count) in enumerate(self.functions.items()):
            parts.append(self.function(name, count, list(self.functions.items())[:number]))
        outputs = {f"o{k}": self.random.choice(OUTPUTS) for k in range(self.random.choice((2, 3)))}
        names = [*self.arrays, *self.scalars, *self.extras(), *outputs]
        self.lines = []
        self.names = {}
        for _ in range(self.random.choice((2, 3, 4, 5))):
            self.statement(2, "        ")
        for name, kind in outputs.items():
            self.store(name, kind)
        parts.append(f"    @cuda.jit\n    def k({', '.join(names)}):\n")
        parts.append("        i = cuda.grid(1)\n        t = cuda.threadIdx.x\n")
        parts += [line + "\n" for line in self.lines]
        parts.append(self.host(outputs, names))
        return "".join(parts)

    def extras(self) -> dict[str, str]:
        """Return the further parameters of the kernel, and how the host makes them."""
        found = {}
        if self.has_record:
            fields = "[('x', np.float32), ('n', np.int16), ('u', np.uint64), ('y', np.uint8)]"
            found["r"] = f"np.zeros(256, np.dtype({fields}, align=True))"
        if self.has_single:
            found["z"] = (
                f"np.array({self.random.choice((3, 5))}, np.{self.random.choice(INTEGERS)})"
            )
        if self.totals:
            found["h"] = f"np.zeros(16, np.{self.totals})"
        return found

    def host(self, outputs: dict[str, str], names: list[str]) -> str:
        seed = self.random.randrange(10**6)
        lines = [f"g = np.random.default_rng({seed})"]
        for name, kind in self.arrays.items():
            lines.append(f"{name} = {self.array(kind)}")
        for name, kind in self.scalars.items():
            value = self.random.choice((3, 7, 100) if kind in UNSIGNED else (3, -2, 7, 100))
            call = f"np.{kind}" if kind not in ("int", "float", "bool") else kind
            lines.append(f"{name} = {call}({value})")
        lines += [f"{name} = {made}" for name, made in self.extras().items() if name != "z"]
        if self.has_single:
            lines.append(f"z = {self.extras()['z']}")
        if self.has_record:
            lines.append("r['x'], r['n'] = g.integers(-99, 99, 256) / 4, g.integers(-99, 99, 256)")
            lines.append("r['u'], r['y'] = g.integers(0, 2**63, 256), g.integers(0, 256, 256)")
        lines += [f"{name} = np.zeros(256, np.{kind})" for name, kind in outputs.items()]
        lines.append(f"k[2, 128]({', '.join(names)})")
        given = {**{name: name for name in outputs}, **({"h": "h"} if self.totals else {})}
        if self.has_record:
            given |= {f"r_{field}": f"r['{field}'].copy()" for field in "xnuy"}
        lines.append(f"return dict({', '.join(f'{n}={v}' for n, v in given.items())})")
        return "".join(f"    {line}\n" for line in lines)

    def array(self, kind: str) -> str:
        if kind == "bool_":
            return "g.integers(0, 2, 256).astype(np.bool_)"
        if kind in REALS:
            scale = self.random.choice((8, 8, 4, 3))
            return f"(g.integers(-200, 200, 256) / {scale}).astype(np.{kind})"
        if self.random.random() < 0.5:
            limits = f"np.iinfo(np.{kind})"
            return f"g.integers({limits}.min, {limits}.max, 256, dtype=np.{kind}, endpoint=True)"
        low = 0 if kind in UNSIGNED else -9
        return f"g.integers({low}, 12, 256).astype(np.{kind})"

    def function(self, name: str, count: int, earlier: list[tuple[str, int]]) -> str:
        """Write a device function; one of three numbers returns a pair."""
        parameters = "pqr"[:count]
        kept = self.names, self.lines, self.arrays, self.scalars, self.functions
        self.names, self.lines = dict.fromkeys(parameters, "n"), []
        self.arrays, self.scalars, self.functions = {}, {}, dict(earlier)
        if self.random.random() < 0.4:
            self.assign(1, "        ")
        result = self.number(2)[0]
        if count == 3:
            result = f"({result}, {self.number(1)[0]})"
        body = "".join(line + "\n" for line in self.lines)
        self.names, self.lines, self.arrays, self.scalars, self.functions = kept
        return (
            f"    @cuda.jit(device=True)\n    def {name}({', '.join(parameters)}):\n"
            f"        i = 5\n{body}        return {result}\n"
        )

    # Expressions

    def number(self, depth: int) -> Text:
        """Return an expression of a number."""
        if depth <= 0:
            return self.leaf()
        forms: list[Callable[[int], Text]] = [
            *[self.arithmetic] * 6, *[self.whole] * 3, self.unary, self.unary, self.extreme,
            self.choice, self.conversion, self.absolute, self.rounding, self.call, self.exact,
            self.boolean, self.ufunc, self.counting, self.memory,
        ]  # fmt: skip
        return self.random.choice(forms)(depth - 1)

    def leaf(self) -> Text:
        pick = self.random.random()
        if pick < 0.12:
            return self.random.choice(LITERALS), "i"
        if pick < 0.2:
            return self.random.choice(FLOATS), "n"
        if pick < 0.3 and self.scalars:
            name = self.random.choice(list(self.scalars))
            kind = self.scalars[name]
            return name, "n" if kind in (*REALS, "float", "bool") else "i"
        if pick < 0.5 and self.names:
            return self.random.choice(list(self.names.items()))
        if pick < 0.6 and self.counters:
            return self.random.choice(self.counters), "i"
        if pick < 0.7 or not self.arrays:
            return "i", "i"
        return self.element()

    def element(self) -> Text:
        name = self.random.choice(list(self.arrays))
        kind = self.arrays[name]
        if self.has_record and self.random.random() < 0.25:
            field = self.random.choice("xnuy")
            text = self.random.choice((f"r[i].{field}", f"r[i]['{field}']"))
            return text, "n" if field == "x" else "i"
        if self.has_single and self.random.random() < 0.2:
            return self.random.choice((("z[()]", "i"), (f"{name}[z]", "n")))
        place = self.random.choice(("i", "i", "i", "255 - i", "-1 - i", "i ^ 5"))
        return f"{name}[{place}]", "n" if kind in (*REALS, "bool_") else "i"

    def integer(self, depth: int) -> str:
        """Return an expression that is an integer of some width."""
        text, kind = self.number(depth)
        return text if kind == "i" else f"I({text})"

    def arithmetic(self, depth: int) -> Text:
        (a, x), (b, y) = self.number(depth), self.number(depth)
        sign = self.random.choice("++--**/")
        if sign == "/":
            return f"({a} / (abs({b}) + 1))", "n"
        return f"({a} {sign} {b})", "i" if x == y == "i" else "n"

    def whole(self, depth: int) -> Text:
        """Return an operation that integers have."""
        a, b = self.integer(depth), self.integer(depth)
        pick = self.random.randrange(8)
        if pick < 2:
            divisor = self.random.choice((f"(({b} & 15) + 1)", f"(-({b} & 15) - 1)", "3", "-7"))
            return f"({a} {self.random.choice(('//', '%'))} {divisor})", "i"
        if pick < 4:
            count = self.random.choice((f"({b} & 7)", "3", "1", "5"))
            return f"({a} {self.random.choice(('<<', '>>'))} {count})", "i"
        if pick < 7:
            return f"({a} {self.random.choice('&|^')} {b})", "i"
        return f"(({a} & 15) ** {self.random.choice((2, 3, '(i & 3)'))})", "i"

    def unary(self, depth: int) -> Text:
        sign = self.random.choice("--~+")
        if sign == "~":
            return f"(~{self.integer(depth)})", "i"
        text, kind = self.number(depth)
        return f"({sign}{text})", kind

    def extreme(self, depth: int) -> Text:
        a, b = self.number(depth)[0], self.number(depth)[0]
        return f"{self.random.choice(('min', 'max'))}({self.plus(a)}, {self.plus(b)})", "n"

    def plus(self, text: str) -> str:
        """Return what is no boolean, for functions that have no case for these."""
        return f"({text} + 0)"

    def choice(self, depth: int) -> Text:
        a, b = self.number(depth)[0], self.number(depth)[0]
        return f"({a} if {self.truth(depth)} else {b})", "n"

    def conversion(self, depth: int) -> Text:
        kind = self.random.choice((*INTEGERS, *REALS, "int", "float"))
        if kind in ("float", *REALS):
            name = kind if kind == "float" else f"np.{kind}"
            return f"{name}({self.plus(self.number(depth)[0])})", "n"
        if kind == "int":
            return f"int(I({self.number(depth)[0]}))", "i"
        mask = self.random.choice((" & 127", ""))
        return f"np.{kind}(I({self.number(depth)[0]}){mask})", "i"

    def absolute(self, depth: int) -> Text:
        text, kind = self.number(depth)
        return f"abs({text})", kind

    def rounding(self, depth: int) -> Text:
        name = self.random.choice(("floor", "ceil", "trunc", "floor", "round"))
        text = self.number(depth)[0]
        if name == "round":
            return f"round(F(I({text})) / {self.random.choice((2, 4, 8))})", "i"
        inner = self.random.choice((text, f"({text}) / 4", f"F({text})", f"np.float32({text})"))
        return f"math.{name}({inner})", "n"

    def exact(self, depth: int) -> Text:
        """Return a function of floats whose result is exact or correctly rounded."""
        a, b = self.number(depth)[0], self.number(depth)[0]
        return self.random.choice((
            f"math.fabs({a})", f"math.sqrt(abs({a}))", f"math.fmod({a}, abs({b}) + 1)",
            f"math.copysign({a}, {b})", f"math.ldexp(F({a}), {self.random.choice((2, -1, 's'))})",
            f"(1 if math.isnan({a}) else 2)", f"(1 if math.isinf({a}) else {b})",
        )).replace("s)", "np.int32(3))"), "n"  # fmt: skip

    def ufunc(self, depth: int) -> Text:
        if not self.arrays or not self.ufuncs:
            return self.number(depth)
        a, b = self.plus(self.number(depth)[0]), self.plus(self.number(depth)[0])
        return self.random.choice((
            f"np.floor(F({a}))", f"np.abs({a})", f"np.sqrt(np.abs({a}))", f"np.sign({a})",
            f"np.minimum({a}, {b})", f"np.maximum({a}, {b})", f"np.trunc(F({a}))",
        )), "n"  # fmt: skip

    def counting(self, depth: int) -> Text:
        kind = self.random.choice(("uint32", "uint64", "int32", "int64"))
        name = self.random.choice(("popc", "clz", "brev", "ffs"))
        if name == "brev":
            kind = kind.replace("int", "uint").replace("uuint", "uint")
        return f"cuda.{name}(np.{kind}({self.integer(depth)}))", "i"

    def memory(self, depth: int) -> Text:
        kept = [n for n, kind in self.names.items() if kind == "array"]
        return self.number(depth) if not kept else (f"{kept[0]}[i & 3]", "n")

    def call(self, depth: int) -> Text:
        if not self.functions:
            return self.number(depth)
        name, count = self.random.choice(list(self.functions.items()))
        given = ", ".join(self.number(depth)[0] for _ in range(count))
        item = f"[{self.random.choice((0, 1))}]" if count == 3 else ""
        return f"{name}({given}){item}", "n"

    def boolean(self, depth: int) -> Text:
        test = self.truth(depth)
        return self.random.choice((f"({test} + {self.number(depth)[0]})", f"(True * {test})")), "n"

    def truth(self, depth: int) -> str:
        """Return a truth value."""
        a, b = self.number(depth)[0], self.number(depth)[0]
        sign = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        test = f"({a} {sign} {b})"
        pick = self.random.random()
        if pick < 0.1:
            return f"(not {test})"
        if pick < 0.2:
            return f"({a} < {b} <= {self.number(depth - 1)[0]})"
        if pick < 0.35 and depth > 0:
            return f"({test} {self.random.choice(('and', 'or'))} {self.truth(depth - 1)})"
        return test

    # Statements

    def statement(self, depth: int, indent: str) -> None:
        forms = [self.assign, self.assign, self.augment, self.pair, self.local, self.colors]
        if depth > 0:
            forms += [self.branch, self.branch, self.counted, self.counted, self.repeated]
        if len(indent) == 8:
            forms += [self.shared, self.assign, self.lanes, self.complexes, self.sums, self.record]
        self.random.choice(forms)(depth, indent)

    def block(self, depth: int, indent: str) -> None:
        known = dict(self.names)
        for _ in range(self.random.choice((1, 1, 2))):
            self.statement(depth - 1, indent)
        self.names = {name: self.names[name] for name in known}

    def name(self) -> str:
        self.next += 1
        return f"v{self.next}"

    def numbers(self) -> list[str]:
        return [name for name, kind in self.names.items() if kind in "in"]

    def assign(self, depth: int, indent: str) -> None:
        text, known = self.number(3)[0], self.numbers()
        again = len(indent) > 8 and known and self.random.random() < 0.7
        name = self.random.choice(known) if again else self.name()
        self.names[name] = "n"
        self.lines.append(f"{indent}{name} = {text}")

    def augment(self, depth: int, indent: str) -> None:
        known = self.numbers()
        if not known:
            return self.assign(depth, indent)
        name = self.random.choice(known)
        self.names[name] = "n"
        return self.lines.append(
            f"{indent}{name} {self.random.choice(('+=', '-=', '*='))} {self.number(2)[0]}"
        )

    def pair(self, depth: int, indent: str) -> None:
        """Write a tuple that is taken apart, or indexed at run time if its items are alike."""
        name, a, b = self.name(), self.number(2)[0], self.number(1)[0]
        pick = self.random.random()
        if pick < 0.4:
            self.lines.append(f"{indent}{name}, {name}b = {a}, {b}")
        elif pick < 0.7 and self.arrays:
            array = self.random.choice(list(self.arrays))
            self.lines.append(f"{indent}{name}t = ({array}[i], {array}[i ^ 1], {array}[255 - i])")
            self.lines.append(f"{indent}{name} = {name}t[i % 3]")
        else:
            self.lines.append(f"{indent}{name}t = ({a}, {b})")
            self.lines.append(f"{indent}{name} = {name}t[0] + {name}t[1] * len({name}t)")
        self.names[name] = "n"

    def local(self, depth: int, indent: str) -> None:
        name, kind = self.name(), self.random.choice(OUTPUTS)
        self.lines.append(f"{indent}{name}m = cuda.local.array(4, np.{kind})")
        value = self.number(2)[0]
        stored = f"I({value})" if kind in INTEGERS else self.plus(value)
        self.lines.append(f"{indent}for c{name} in range(4):")
        self.lines.append(f"{indent}    {name}m[c{name}] = {stored}")
        second = self.integer(1)
        self.lines.append(
            f"{indent}{name}m[{second} & 3] += {self.integer(1) if kind in INTEGERS else 1}"
        )
        self.lines.append(f"{indent}{name} = {name}m[i & 3]")
        self.names[name] = "n"

    def colors(self, depth: int, indent: str) -> None:
        name, first, second = self.name(), *self.random.sample(("RED", "GREEN", "BLUE"), 2)
        test = self.truth(1)
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}{name}c = Color.{first} if {test} else Color.{second}")
            test = self.random.choice((f"{name}c == Color.{first}", f"{name}c != Color.{second}"))
        else:
            self.lines.append(f"{indent}{name}c = Shape.ROUND if {test} else Shape.SQUARE")
            test = f"{name}c == Shape.ROUND"
        self.lines.append(f"{indent}{name} = 10 if {test} else 20")
        self.names[name] = "n"

    def shared(self, depth: int, indent: str) -> None:
        name, kind = self.name(), self.random.choice(OUTPUTS)
        value = self.number(2)[0]
        stored = f"I({value})" if kind in INTEGERS else self.plus(value)
        self.lines += [
            f"{indent}{name}m = cuda.shared.array(128, np.{kind})",
            f"{indent}{name}m[t] = {stored}",
            f"{indent}cuda.syncthreads()",
            f"{indent}{name} = {name}m[127 - t]",
            f"{indent}cuda.syncthreads()",
        ]
        self.names[name] = "n"

    def lanes(self, depth: int, indent: str) -> None:
        """Write an operation of a warp, all of whose lanes are here."""
        name, kind = self.name(), self.random.choice(("int32", "int64", "float32", "float64"))
        value = f"np.{kind}(I({self.number(2)[0]}))"
        shuffle = self.random.choice(
            ("shfl_sync", "shfl_xor_sync", "shfl_down_sync", "shfl_up_sync")
        )
        vote = self.random.choice(("ballot_sync", "all_sync", "any_sync", "eq_sync"))
        self.lines.append(indent + self.random.choice((
            f"{name} = cuda.{shuffle}(0xffffffff, {value}, {self.random.choice((1, 5, 16))})",
            f"{name} = cuda.{vote}(0xffffffff, {self.truth(1)}) + 0",
        )))  # fmt: skip
        self.names[name] = "n"

    def complexes(self, depth: int, indent: str) -> None:
        """Write complex arithmetic whose results are exact."""
        name, single = self.name(), self.random.choice(("np.float32", "F", "F"))
        parts = [f"{single}(I({self.number(1)[0]}) & 31)" for _ in range(2)]
        other = self.random.choice(("2j", "(1 - 3j)", "3", "0.5", "i", f"{single}(i & 7)"))
        sign = self.random.choice("+-*")
        self.lines += [
            f"{indent}{name}z = complex({parts[0]}, {parts[1]})",
            f"{indent}{name}z = {name}z {sign} {other}",
            f"{indent}{name}z {sign}= {name}z.conjugate()",
            f"{indent}{name} = {self.random.choice((f'{name}z.real', f'({name}z * 2).imag'))}",
        ]
        self.names[name] = "n"

    def sums(self, depth: int, indent: str) -> None:
        if self.totals:
            name = self.combined  # of two operations the order would decide
            value = f"I({self.number(2)[0]}) & 1023"
            self.lines.append(f"{indent}cuda.atomic.{name}(h, {self.integer(1)} & 15, {value})")

    def record(self, depth: int, indent: str) -> None:
        if self.has_record:
            field = self.random.choice("xnuy")
            value = f"I({self.number(2)[0]})"
            self.lines.append(f"{indent}r[i].{field} = {value}")

    def branch(self, depth: int, indent: str) -> None:
        self.lines.append(f"{indent}if {self.truth(2)}:")
        self.block(depth, indent + "    ")
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}else:")
            self.block(depth, indent + "    ")

    def counted(self, depth: int, indent: str) -> None:
        name, bound = f"j{self.next}", self.integer(1)
        self.next += 1
        pick = self.random.choice
        kind = pick(INTEGERS)
        step = pick((1, 2, "np.int64(2)"))
        bounds = pick((
            "3", "6", "1, 5, 2", "5, 0, -1", "-3, 3", f"{bound} & 7", f"np.{kind}(5)",
            f"np.{kind}({bound} & 3), np.{kind}(7)", f"0, np.uint64(6), np.uint64({pick((1, 2))})",
            f"np.{kind}(2), 6, {step}",
        ))  # fmt: skip
        self.lines.append(f"{indent}for {name} in range({bounds}):")
        self.counters.append(name)
        self.block(depth, indent + "    ")
        if self.names and self.random.random() < 0.6 and self.numbers():
            target = pick(self.numbers())
            self.names[target] = "n"
            other = self.element()[0] if self.arrays else "i"
            self.lines.append(f"{indent}    {target} += {other} * ({name} - {pick((3, 1, 2))})")
        if self.random.random() < 0.3:
            self.lines.append(f"{indent}    if {self.truth(1)}:")
            self.lines.append(f"{indent}        {pick(('break', 'continue'))}")
        self.counters.remove(name)

    def repeated(self, depth: int, indent: str) -> None:
        name = f"m{self.next}"
        self.next += 1
        self.lines.append(f"{indent}{name} = {self.random.choice((2, 3, 5))}")
        self.lines.append(f"{indent}while {name} > 0 and {self.truth(1)}:")
        self.lines.append(f"{indent}    {name} -= 1")
        self.block(depth, indent + "    ")

    def store(self, name: str, kind: str) -> None:
        known = self.numbers()
        value = self.random.choice(known) if known and self.random.random() < 0.7 else None
        text, found = (value, "n") if value else self.number(3)
        if kind in INTEGERS:
            text = text if found == "i" else f"I({text})"
        self.lines.append(f"        {name}[i] = {text}")
        if self.random.random() < 0.2:
            sign = self.random.choice(("+=", "-=", "*="))
            other = self.integer(1) if kind in INTEGERS else self.random.choice(("0.5", "2", "i"))
            self.lines.append(f"        {name}[i] {sign} {other}")


def program(seed: str, number: int) -> str:
    """Return the source of a program. Numba 0.68 on NumPy 2.5 has no ufuncs of single numbers, so
    that there are none where a seed begins with "plain"."""
    return Writer(f"numba {seed} {number}", not seed.startswith("plain")).program()


def main(folder: str, count: str, seed: str = "0") -> None:
    """Write programs `p0.py`, `p1.py`, ... to a folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number in range(int(count)):
        (Path(folder) / f"p{number}.py").write_text(program(seed, number))


if __name__ == "__main__":
    main(*sys.argv[1:])
