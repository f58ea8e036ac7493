"""What NumPy's arrays do and device arrays do not: each says what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

_KERNEL = "write a kernel, or copy to the host first"


class NoNumber:
    """Refuses comparison, arithmetic, truth, iteration and conversion to numbers.

    Arrays of a device are what kernels work on: an operator would be a launch that nobody sees.
    """

    __slots__ = ()
    # `==` raises, so that arrays are told apart, and found in sets, as objects.
    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> NoReturn:
        raise TypeError(
            f"numpy.{ufunc.__name__} works on the host, and a DeviceArray is on the device: "
            f"{_KERNEL}, numpy.{ufunc.__name__}(a.copy_to_host(), ...)"
        )

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a DeviceArray is neither true nor false: copy_to_host() first, or ask `array is not "
            "None` or `array.size > 0`"
        )

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "a DeviceArray is not iterated: each step would be a copy. Take copy_to_host() for its "
            "values, or views: `for i in range(len(array)): array[i]`"
        )

    def __contains__(self, value: object) -> NoReturn:
        raise TypeError(f"`in` does not look into a DeviceArray: {_KERNEL}")


def _refuse_operator(symbol: str, name: str) -> Any:
    def refuse(self: object, *others: object) -> NoReturn:
        example = f"a.copy_to_host() {symbol} ..." if others else f"{symbol}a.copy_to_host()"
        raise TypeError(
            f"`{symbol}` does not work on a DeviceArray, whose elements are on the device: "
            f"{_KERNEL}, `{example}`"
            + (" (`is` compares the arrays themselves)" if symbol in ("==", "!=") else "")
        )

    refuse.__name__ = name
    return refuse


def _refuse_conversion(type: str) -> Any:
    def refuse(self: object) -> NoReturn:
        raise TypeError(
            f"{type}(a) of a DeviceArray would be a hidden copy: write {type}(a.copy_to_host())"
        )

    return refuse


_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//",
    "mod": "%", "divmod": "divmod", "pow": "**", "lshift": "<<", "rshift": ">>", "and": "&",
    "xor": "^", "or": "|",
}  # fmt: skip
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY = {"neg": "-", "pos": "+", "abs": "abs", "invert": "~"}
_NUMBERS = ("int", "float", "complex")

for _name, _symbol in _BINARY.items():
    for _prefix in ("", "r", "i"):
        _method = f"__{_prefix}{_name}__"
        setattr(NoNumber, _method, _refuse_operator(_symbol, _method))
for _name, _symbol in {**_COMPARISONS, **_UNARY}.items():
    setattr(NoNumber, f"__{_name}__", _refuse_operator(_symbol, f"__{_name}__"))
for _name in _NUMBERS:
    setattr(NoNumber, f"__{_name}__", _refuse_conversion(_name))
