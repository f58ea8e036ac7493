"""The table of error codes, one row each: the source of the reference page and of the golden tests.

AJ01 syntax, AJ02 types, AJ03 names and compile-time values, AJ04 intrinsics and targets.
"""

from __future__ import annotations

from amdjit.diagnostics.errors import (
    CompileError,
    ErrorKind,
    TargetError,
    TypeCheckError,
    UnsupportedSyntaxError,
)
from amdjit.diagnostics.span import Span

UNSUPPORTED_STATEMENT = ErrorKind(
    "AJ0101",
    UnsupportedSyntaxError,
    "`{statement}` cannot be used in a kernel",
    "not part of the kernel language",
)
UNSUPPORTED_EXPRESSION = ErrorKind(
    "AJ0102",
    UnsupportedSyntaxError,
    "{expression} cannot be used in a kernel",
    "not part of the kernel language",
)
NO_SOURCE = ErrorKind(
    "AJ0103",
    UnsupportedSyntaxError,
    "the source of `{function}` cannot be read from {file}",
    "",
    "kernels are compiled from their source text: put the function in a file or a notebook cell, "
    "or let Python know the text under a name of its own: "
    "`linecache.cache[name] = (len(text), None, text.splitlines(True), name)` before "
    "`exec(compile(text, name, 'exec'))`",
)
UNSUPPORTED_PARAMETER = ErrorKind(
    "AJ0105",
    UnsupportedSyntaxError,
    "{what} cannot be a parameter of a kernel function",
    "not supported",
    "list every parameter by name",
)
UNSUPPORTED_TARGET = ErrorKind(
    "AJ0106",
    UnsupportedSyntaxError,
    "{what} cannot be assigned to in a kernel",
    "cannot be assigned to",
)
RECURSION = ErrorKind(
    "AJ0108",
    UnsupportedSyntaxError,
    "`{function}` calls itself {reason}",
    "recursive call",
    "{remedy}",
)
LOOP_OVER = ErrorKind(
    "AJ0109",
    UnsupportedSyntaxError,
    "a kernel cannot loop over {what}",
    "cannot be looped over",
)
KERNEL_RETURNS = ErrorKind(
    "AJ0110",
    UnsupportedSyntaxError,
    "a kernel returns nothing, but `{kernel}` returns a value",
    "returned value",
    "write the result to an array parameter: `out[i] = ...`",
)
CALLS_KERNEL = ErrorKind(
    "AJ0111",
    UnsupportedSyntaxError,
    "`{kernel}` is a kernel and cannot be called from a kernel",
    "a kernel",
    "put the shared code into a function marked `@amdjit.device_function`, which both kernels "
    "call; to run one kernel after the other, launch both from the host",
)
STATIC_LOOP_LENGTH = ErrorKind(
    "AJ0112",
    UnsupportedSyntaxError,
    "{iterations} iterations are too many to unroll when compiling",
    "{iterations} iterations",
    "use `range(...)`, or nest a short `static_range(...)` in a `range(...)`; at most {limit} "
    "iterations of one loop are unrolled, and {total} of all loops of a function with those of the "
    "functions that it calls",
)
TOO_DEEP = ErrorKind(
    "AJ0113",
    UnsupportedSyntaxError,
    "`{function}` is nested too deeply to be compiled",
    "too deep",
    "split long expressions and deeply nested blocks into several statements or functions",
)
CHANGED_SOURCE = ErrorKind(
    "AJ0114",
    UnsupportedSyntaxError,
    "line {line} of {file} is not the text that Python compiled `{function}` from",
    "",
    "{remedy}",
)
TOO_SLOW = ErrorKind(
    "AJ0115",
    UnsupportedSyntaxError,
    "typing the kernel took more than {limit} s",
    "typed at that moment",
    "unroll less, and put repeated code into functions with `inline=False`; the limit is "
    "AMDJIT_COMPILE_TIME_LIMIT",
)

OPERAND_TYPES = ErrorKind(
    "AJ0201",
    TypeCheckError,
    "`{operator}` does not work on {left} and {right}",
    "{left} {operator} {right}",
)
UNARY_TYPE = ErrorKind(
    "AJ0202",
    TypeCheckError,
    "`{operator}` does not work on {type}",
    "is {type}",
)
LITERAL_RANGE = ErrorKind(
    "AJ0203",
    TypeCheckError,
    "the constant {value} does not fit {type}",
    "does not fit {type}",
)
NO_CONVERSION = ErrorKind(
    "AJ0204",
    TypeCheckError,
    "{source} is not converted to {target} implicitly",
    "is {source}",
)
NOT_CONVERTIBLE = ErrorKind(
    "AJ0205",
    TypeCheckError,
    "{source} cannot be converted to {target}",
    "is {source}",
)
ARGUMENT_COUNT = ErrorKind(
    "AJ0206",
    TypeCheckError,
    "`{function}` takes {expected}, but {given}",
    "called here",
    "its signature is {signature}",
)
ARGUMENT_TYPE = ErrorKind(
    "AJ0207",
    TypeCheckError,
    "argument `{parameter}` of `{function}` is {expected}, but {found} was given",
    "is {found}",
)
IMMEDIATE = ErrorKind(
    "AJ0208",
    TypeCheckError,
    "argument `{parameter}` of `{function}` is part of the instruction and must be {expected}, "
    "known when compiling",
    "{found}",
)
NOT_INDEXABLE = ErrorKind(
    "AJ0209",
    TypeCheckError,
    "{type} cannot be indexed",
    "is {type}",
    "only arrays, vectors and tuples have items",
)
INDEX_COUNT = ErrorKind(
    "AJ0210",
    TypeCheckError,
    "an array of {ndim} is indexed with {given}",
    "is {type}",
    "write one index for each dimension: `{example}`",
)
INDEX_TYPE = ErrorKind(
    "AJ0211",
    TypeCheckError,
    "an index must be an integer, not {type}",
    "is {type}",
)
INDEX_RANGE = ErrorKind(
    "AJ0212",
    TypeCheckError,
    "index {index} is out of range for {type}",
    "out of range",
    "indices go from 0 to {last} here",
)
NOT_CALLABLE = ErrorKind(
    "AJ0213",
    TypeCheckError,
    "{what} cannot be called in a kernel",
    "cannot be called",
)
NO_ATTRIBUTE = ErrorKind(
    "AJ0214",
    TypeCheckError,
    "{type} has no attribute `{attribute}` in a kernel",
    "no `{attribute}`",
)
JOIN_TYPES = ErrorKind(
    "AJ0215",
    TypeCheckError,
    "{name} would be {left} on one path here and {right} on another",
    "{left} meets {right}",
    "{remedy}",
)
CONDITION_TYPE = ErrorKind(
    "AJ0216",
    TypeCheckError,
    "{type} is neither true nor false",
    "is {type}",
    "write a comparison of numbers, such as `a.shape[0] > 0` or `v[0] != 0`",
)
BITCAST_SIZE = ErrorKind(
    "AJ0217",
    TypeCheckError,
    "a bitcast needs types of one size, but {source} has {source_bits} bits and {target} has "
    "{target_bits}",
    "{source} to {target}",
    "choose a type of {source_bits} bits, such as one of amdjit.vector(...)",
)
VECTOR_LENGTH = ErrorKind(
    "AJ0218",
    TypeCheckError,
    "{type} takes {expected}, but {given} were given",
    "{given} given",
)
ANNOTATION = ErrorKind(
    "AJ0219",
    TypeCheckError,
    "the annotation of `{name}` is not a type of the kernel language",
    "{found}",
    "write a type such as amdjit.f32, amdjit.f32[:], amdjit.vector(f16, 8) or amdjit.Const",
)
ARGUMENT_MISMATCH = ErrorKind(
    "AJ0220",
    TypeCheckError,
    "parameter `{parameter}` of `{function}` is annotated {expected}, but {found} was given",
    "annotated {expected}",
    "pass {expected}, or change the annotation",
)
RETURN_TYPES = ErrorKind(
    "AJ0221",
    TypeCheckError,
    "{name} returns {left} in one place and {right} in another",
    "one of the returns",
    "return the same type everywhere",
)
MISSING_RETURN = ErrorKind(
    "AJ0222",
    TypeCheckError,
    "`{function}` returns {type} in one place but can also end without a value",
    "may end without a return",
    "return a value on every path through the function",
)
UNPACK = ErrorKind(
    "AJ0223",
    TypeCheckError,
    "{values} cannot be assigned to {names}",
    "takes {names}, but the value is {type}",
)
WIDE_ACCESS = ErrorKind(
    "AJ0224",
    TypeCheckError,
    "{width} cannot be loaded from or stored to {type} at once",
    "{width} of {type}",
    "an access has 1 element, or several with 16, 32, 64, 96, 128, 256, 512 or 1024 bits in total",
)
RANGE_TYPES = ErrorKind(
    "AJ0225",
    TypeCheckError,
    "the bounds of a range are {left} and {right}, which have no type in common",
    "{left} and {right}",
    "convert the bounds to one type, for example `i32(...)`",
)
PART_ASSIGNMENT = ErrorKind(
    "AJ0226",
    TypeCheckError,
    "{source} cannot be assigned to the elements of {target}",
    "{reason}",
)

DIVISION_BY_ZERO = ErrorKind(
    "AJ0250",
    TypeCheckError,
    "`{operator}` divides by a constant that is 0",
    "the divisor is 0",
    "correct the constant; a divisor that becomes 0 at run time raises nothing, unless "
    "`division_check=True` asks for ZeroDivisionError",
)
NO_SIGNATURE = ErrorKind(
    "AJ0260",
    TypeCheckError,
    "no signature of `{function}` takes ({found}); it has {signatures}",
    "({found})",
    "convert the arguments, or add a signature to the decorator of `{function}`",
)
UNKNOWN_NAME = ErrorKind(
    "AJ0301",
    CompileError,
    "`{name}` is not defined",
    "not defined",
)
UNDEFINED_NAME = ErrorKind(
    "AJ0302",
    CompileError,
    "`{name}` {reason}",
    "no single value here",
    "assign it before the branch or loop; use a number in place of None or a string, which have "
    "no run-time form",
)
UNSUPPORTED_GLOBAL = ErrorKind(
    "AJ0303",
    CompileError,
    "`{name}` is {what}, which a kernel cannot read from outside",
    "{what}",
)
NOT_CONSTANT = ErrorKind(
    "AJ0304",
    CompileError,
    "{what} must be known when compiling",
    "known only at run time",
    "write a literal, a global constant, or a parameter annotated `amdjit.Const`",
)
CONSTANT_FAILS = ErrorKind(
    "AJ0305",
    CompileError,
    "this constant expression fails: {message}",
    "fails when compiling",
    "correct the constants",
)
BAD_SHAPE = ErrorKind(
    "AJ0306",
    CompileError,
    "the shape of an array must consist of positive constants, but this one is {found}",
    "not a shape",
    "write positive integers that are known when compiling, such as `shared.array((16, 16), f32)`; "
    "`shared.dynamic(dtype)` is the LDS that the launch adds, Numba's `shared.array(0, dtype)`",
)
NO_OPERATION = ErrorKind(
    "AJ0307",
    CompileError,
    "{what} cannot be used as a value in a kernel",
    "has no value at run time",
)
LDS_OFFSET = ErrorKind(
    "AJ0316",
    CompileError,
    "an array in dynamic LDS must begin at a multiple of 16 bytes, but this offset is {found}",
    "not a valid offset",
    "pass the number of bytes before the array as an integer, rounded up to a multiple of 16",
)
REFUSED = ErrorKind(
    "AJ0317",
    TypeCheckError,
    "{problem}",
    "refused",
)

CONSTANT_ARRAY = ErrorKind(
    "AJ0330",
    CompileError,
    "`const.array_like` takes a NumPy array from outside of the kernel, not {what}",
    "not an array of constants",
)
TARGET_LACKS = ErrorKind(
    "AJ0401",
    TargetError,
    "`{intrinsic}` does not exist on {target}",
    "not on {target}",
)
WAVE_SIZE = ErrorKind(
    "AJ0402",
    TargetError,
    "`{intrinsic}` exists only in wave{sizes}, but this kernel is compiled for wave{wave_size}",
    "not in wave{wave_size}",
)
LDS_SIZE = ErrorKind(
    "AJ0403",
    TargetError,
    "the kernel's LDS arrays take {used} bytes, but a workgroup on {target} has {limit}",
    "{largest} bytes of them",
    "make the tiles smaller",
)
PRIVATE_SIZE = ErrorKind(
    "AJ0404",
    TargetError,
    "a private array of {used} bytes is too large: a work-item can have {limit}",
    "{used} bytes for every work-item",
    "use an array parameter with a part for each work-item",
)
NO_LIBRARY = ErrorKind(
    "AJ0405",
    TargetError,
    "`{intrinsic}` is a function of {library}, which was not found",
    "needs {library}",
)

ALL: tuple[ErrorKind, ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, ErrorKind)
)


def error(kind: ErrorKind, span: Span | None, **fields: object) -> CompileError:
    """Return the exception for an error of this kind at a place."""
    return kind.exception(kind.at(span, **fields))
