"""How undefined values pass from an instruction's sources to its results, by kind of instruction.

Each module works on the masks of a `Shadow` (`checks/init/operands.py`) and writes host code that
moves or combines them. `memory` also asks memory's shadow. The rules do not import each other,
except that loads of `memory` may transpose, which is for `lanes`, and that `vector` asks
`dependence`, which reads the rows of instructions.
"""
