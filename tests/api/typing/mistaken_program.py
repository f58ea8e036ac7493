"""A user's program with misspelt options, settings, attributes and arguments. A comment marks each
line in which a type checker finds a mistake."""

import numpy as np

import amdjit
from amdjit import Const, f32


@amdjit.kernel
def fill(x: f32[:]) -> None:
    x[0] = 1.0


@amdjit.autotune(space={"per": [1]})
@amdjit.kernel
def tuned(x: f32[:], per: Const) -> None:
    x[0] = 1.0


array, stream, event = amdjit.zeros(4), amdjit.Stream(), amdjit.Event()
array.men()  # mistake
print(array.shap)  # mistake
array.copy_to_hots()  # mistake
number: int = "after the attributes of arrays"  # mistake
name: str = array.ndim  # mistake
amdjit.kernel(fast_math=True)  # mistake
amdjit.kernel(block="wide")  # mistake
amdjit.kernel("void(f32[:])", unrol=2)  # mistake
amdjit.compile(fill, f32[:], wave=64)  # mistake
fill.compile(f32[:], optt_level=2)  # mistake
fill.with_options(unrol=2)  # mistake
print(fill.lunch)  # mistake
print(amdjit.float32)  # mistake
amdjit.vectorize(fastmaths=True)  # mistake
amdjit.autotune(space={"per": [1]}, keys=["x"])  # mistake
tuned.tune(1, 64, fersh=True)  # mistake
print(tuned.best_confg)  # mistake
amdjit.sanitize("race", raise_=True)  # mistake
amdjit.profile(instruction=3)  # mistake
amdjit.zeros(3, dtyp=np.float32)  # mistake
stream.sync()  # mistake
event.elapsed()  # mistake
