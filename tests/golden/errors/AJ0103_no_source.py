"""What is refused: no source."""

import amdjit


def run():
    names = {"amdjit": amdjit}
    parts = ("@amdjit.kernel\ndef ", "typed_at_a_prompt(out):\n    out[0] = 1\n")
    exec("".join(parts), names)
    names["typed_at_a_prompt"].compile(amdjit.f32[:])
