"""Random C kernels without undefined behaviour: what they compute is the same on every
processor."""

from __future__ import annotations

import random

INTEGERS = {
    "i8": ("signed char", 8),
    "u8": ("u8", 8),
    "i16": ("short", 16),
    "u16": ("u16", 16),
    "i32": ("int", 32),
    "u32": ("u32", 32),
    "i64": ("long", 64),
    "u64": ("u64", 64),
}
FLOATS = {"f16": "f16", "f32": "float", "f64": "double"}
C_TYPES = {**{name: text for name, (text, _) in INTEGERS.items()}, **FLOATS}

PRELUDE = """
static inline long divide_i(long a, long b) { return b == 0 || (b == -1) ? -a : a / b; }
static inline long modulo_i(long a, long b) { return b == 0 || (b == -1) ? 3 : a % b; }
static inline u64 divide_u(u64 a, u64 b) { return b ? a / b : a; }
static inline u64 modulo_u(u64 a, u64 b) { return b ? a % b : a; }
static inline int divide_i32(int a, int b) { return b == 0 || (b == -1) ? -a : a / b; }
static inline u32 divide_u32(u32 a, u32 b) { return b ? a / b : a; }
static inline long whole(double x) { return x > -1e15 && x < 1e15 ? (long)x : 77; }
static inline long bits(double x) { return x == x ? __builtin_bit_cast(long, x) : 12345; }
"""

_DIVISIONS = [
    ("divide_i", "long"),
    ("modulo_i", "long"),
    ("divide_u", "u64"),
    ("modulo_u", "u64"),
    ("divide_i32", "int"),
    ("divide_u32", "u32"),
]


class Program:
    """One random kernel; `source` is its text. It reads in[4 i ..] and writes out[8 i ..]."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._variables: dict[str, str] = {}
        self._depth = 0
        body = self._declarations() + self._statements(self._random.randint(4, 9), "  ")
        results = [f"  out[i * 8 + {n}] = {self._result()};" for n in range(8)]
        lines = [
            "KERNEL fuzz(GLOBAL long *out, GLOBAL const long *in) {",
            "  u32 i = INDEX;",
            *body,
            *results,
            "}",
        ]
        self.source = '#include "common.h"\n' + PRELUDE + "\n".join(lines) + "\n"

    def _declarations(self) -> list[str]:
        lines = [
            "  int table[8];",
            "  for (u32 k = 0; k < 8; ++k) table[k] = (int)(in[i * 4 + (k & 3)] >> k);",
        ]
        for number in range(self._random.randint(4, 9)):
            kind = self._random.choice(list(C_TYPES))
            source = f"in[i * 4 + {self._random.randrange(4)}]"
            value = source if kind in INTEGERS else f"(({C_TYPES[kind]})({source} % 1000) / 8)"
            name = f"v{number}"
            lines.append(f"  {C_TYPES[kind]} {name} = ({C_TYPES[kind]}){value};")
            self._variables[name] = kind
        return lines

    def _result(self) -> str:
        name = self._random.choice(list(self._variables))
        return f"bits((double){name})" if self._variables[name] in FLOATS else f"(long){name}"

    def _statements(self, count: int, indent: str) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            lines += self._statement(indent)
        return lines

    def _statement(self, indent: str) -> list[str]:
        choice = self._random.random()
        if choice < 0.6 or self._depth >= 3:
            return [indent + self._assignment()]
        self._depth += 1
        inner = self._statements(self._random.randint(1, 3), indent + "  ")
        if choice < 0.75:
            head = [f"{indent}if ({self._condition()}) {{", *inner]
            other = self._statements(1, indent + "  ")
            lines = [*head, f"{indent}}} else {{", *other, f"{indent}}}"]
        elif choice < 0.9:
            count = f"({self._integer(1)} & {self._random.choice([3, 7])})"
            name = f"k{self._random.randrange(10**6)}"
            escape = [
                f"{indent}  if ({self._condition()}) {self._random.choice(['break', 'continue'])};"
            ]
            lines = [
                f"{indent}for (u32 {name} = 0; {name} < (u32){count}; ++{name}) {{",
                *escape,
                *inner,
                f"{indent}}}",
            ]
        else:
            cases = [
                f"{indent}case {n}: {self._assignment()} {self._random.choice(['break;', ''])}"
                for n in self._random.sample(range(8), 4)
            ]
            lines = [
                f"{indent}switch ({self._integer(1)} & 7) {{",
                *cases,
                f"{indent}default: {self._assignment()}",
                f"{indent}}}",
            ]
        self._depth -= 1
        return lines

    def _assignment(self) -> str:
        if self._random.random() < 0.12:
            return f"table[{self._integer(1)} & 7] = (int){self._integer(2)};"
        name = self._random.choice(list(self._variables))
        kind = self._variables[name]
        value = self._float(3) if kind in FLOATS else self._integer(3)
        return f"{name} = ({C_TYPES[kind]})({value});"

    def _condition(self) -> str:
        comparison = self._random.choice(["<", ">", "==", "!=", "<=", ">="])
        if self._random.random() < 0.3:
            return f"{self._float(1)} {comparison} {self._float(1)}"
        if self._random.random() < 0.2:
            return f"(u64){self._integer(1)} {comparison} (u64){self._integer(1)}"
        return f"{self._integer(1)} {comparison} {self._integer(1)}"

    def _name(self, kinds: object) -> str | None:
        names = [name for name, kind in self._variables.items() if kind in kinds]  # type: ignore[operator]
        return self._random.choice(names) if names else None

    def _integer(self, depth: int) -> str:
        """An expression of any integer type, in parentheses."""
        choice = self._random.random()
        if depth == 0 or choice < 0.15:
            return self._integer_leaf()
        a, b = self._integer(depth - 1), self._integer(depth - 1)
        if choice < 0.55:
            return f"({a} {self._random.choice(['+', '-', '*', '&', '|', '^'])} {b})"
        if choice < 0.65:
            kind = self._random.choice(["u32", "int", "u64", "long"])
            width = 31 if kind in ("u32", "int") else 63
            return f"(({kind}){a} {self._random.choice(['<<', '>>'])} ({b} & {width}))"
        if choice < 0.75:
            name, kind = self._random.choice(_DIVISIONS)
            return f"{name}(({kind}){a}, ({kind}){b})"
        if choice < 0.83:
            kind = self._random.choice([text for text, _ in INTEGERS.values()])
            return f"(({kind}){a})"
        if choice < 0.88:
            return f"whole((double){self._float(depth - 1)})"
        if choice < 0.94:
            return f"({self._condition()} ? {a} : {b})"
        call = [
            "__builtin_popcount((u32)",
            "__builtin_clz(1u | (u32)",
            "__builtin_ctzll(1ul << 63 | (u64)",
        ]
        return f"{self._random.choice(call)}{a})"

    def _integer_leaf(self) -> str:
        choice = self._random.random()
        name = self._name(INTEGERS)
        if name and choice < 0.7:
            return name
        if choice < 0.8:
            return f"table[{self._random.randrange(8)}]"
        values = [0, 1, -1, 2, 7, 64, 255, 1000, 65535, -65536, 0x7FFFFFFF, 0x12345678]
        return f"({self._random.choice(values)})"

    def _float(self, depth: int) -> str:
        choice = self._random.random()
        if depth == 0 or choice < 0.2:
            return (
                self._name(FLOATS) or f"{self._random.choice(['1.5f', '-0.25', '3.0f', '100.0'])}"
            )
        if choice < 0.3:
            return f"({self._random.choice(list(FLOATS.values()))}){self._integer(depth - 1)}"
        a, b = self._float(depth - 1), self._float(depth - 1)
        if choice < 0.8:
            return f"({a} {self._random.choice(['+', '-', '*', '/'])} {b})"
        if choice < 0.9:
            return f"({self._condition()} ? {a} : {b})"
        return f"({self._random.choice(list(FLOATS.values()))})({a})"
