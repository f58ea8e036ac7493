"""Warnings about locks that the lanes of one wave take from each other.

    while atomic.cas(lock, 0, 0, 1) != 0:
        pass
    ...
    atomic.exch(lock, 0, 0)

All lanes of a wave leave the loop together: the lane that has taken the lock waits there for those
that have not, which wait for it to release the lock. It is no better to release the lock within
the loop, in the branch of the lane that has it: LLVM moves what only the last iteration does behind
the loop, unless all lanes meet in each iteration, in a convergent operation such as
`sync.wave_barrier()`. Code that only one lane of a wave reaches, and locks that no two lanes share,
are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from amdjit.diagnostics.performance import CompileWarning, Finding
from amdjit.late_methods import dataclass
from amdjit.tree import nodes as tree
from amdjit.tree.nodes import BinaryOperator, Comparison
from amdjit.tree.walk import walk
from amdjit.types import VOID, boolean

__all__ = ["divergent_locks"]

_CLAIMS = ("atomic.cas", "atomic.exch")
_OWN = ("threadIdx.x", "lane_id", "grid", "global_id", "workitem_id_x")
_MEETINGS = ("wave_barrier", "workgroup_barrier", "ballot", "ballot64")
_KEEPS_LANES_APART = (BinaryOperator.ADD, BinaryOperator.SUBTRACT)


@dataclass(frozen=True)
class _Facts:
    """What a function does to the arrays among its parameters: claims (with a `cas` or `exch` whose
    result it may return), changes, and waits for a lock that it does not release."""

    claims: frozenset[tree.Variable]
    changes: frozenset[tree.Variable]
    waits: frozenset[tree.Variable]


def divergent_locks(program: tree.Program) -> Iterator[Finding]:
    """Find loops in which lanes of a wave may wait for a lock that another one holds."""
    functions = (*program.functions, program.kernel)
    if any(_is_claim(node) for function in functions for node in walk(function.body)):
        search = _Search()
        search.visit(program.kernel)
        yield from search.found.values()


def _is_claim(node: tree.Node) -> bool:
    return isinstance(node, tree.CallIntrinsic) and node.intrinsic.name in _CLAIMS


def _base(array: object) -> tree.Variable | None:
    """Return the variable of an array that an expression is, or is a part of."""
    while isinstance(array, (tree.View, tree.AddressOf)):
        array = array.array
    return array.variable if isinstance(array, tree.Read) else None


@dataclass
class _Search:
    """Visits the functions that several lanes of a wave run.

    waiting: the arrays whose lock the function has taken so far, with the loop.
    """

    facts: dict[tree.Function, _Facts] = field(default_factory=dict)
    found: dict[tuple[str, int], Finding] = field(default_factory=dict)
    definitions: dict[tree.Variable, list[tree.Expression]] = field(default_factory=dict)
    visited: set[tree.Function] = field(default_factory=set)

    def visit(self, function: tree.Function) -> None:
        """Report the locks of a function that several lanes of a wave call."""
        if function not in self.visited and not function.transparent:
            self.visited.add(function)
            self.facts_of(function)
            self._block(function.body, {}, False)

    def facts_of(self, function: tree.Function) -> _Facts:
        """Return what a function does to its parameters, whoever calls it."""
        if function not in self.facts:
            self.facts[function] = _Facts(frozenset(), frozenset(), frozenset())
            nodes = list(walk(function.body))
            for node in nodes:
                if isinstance(node, tree.Assign):
                    self.definitions.setdefault(node.variable, []).append(node.value)
            waiting: dict[tree.Variable, tree.Node] = {}
            silent = replace(self, found={}, visited=set(self.facts))
            silent._block(function.body, waiting, False)
            mine = frozenset(function.parameters)
            returns = function.result != VOID
            self.facts[function] = _Facts(
                frozenset(v for node in nodes if returns for v, _ in self._claims(node)) & mine,
                frozenset(v for node in nodes for v in self._changes(node)) & mine,
                # amdjit's own functions repeat what another lane undid, and hold no lock.
                frozenset() if function.transparent else frozenset(waiting) & mine,
            )
        return self.facts[function]

    def _block(
        self,
        statements: Sequence[tree.Statement],
        waiting: dict[tree.Variable, tree.Node],
        is_one_lane: bool,
    ) -> None:
        for statement in statements:
            if not is_one_lane:
                self._waits_of_calls(statement, waiting)
            if isinstance(statement, tree.If):
                self._block(
                    statement.then, waiting, is_one_lane or _picks(statement.condition, True)
                )
                self._block(
                    statement.otherwise, waiting, is_one_lane or _picks(statement.condition, False)
                )
                # `if lane != 0: return`
                leaves = any(isinstance(s, tree.Return) for s in statement.then)
                is_one_lane |= leaves and _picks(statement.condition, False)
            elif isinstance(statement, (tree.While, tree.ForRange)):
                self._block(statement.body, waiting, is_one_lane)
                self._block(statement.otherwise, waiting, is_one_lane)
                if isinstance(statement, tree.While) and not is_one_lane:
                    self._loop(statement, waiting)
            self._released(statement, waiting)

    def _released(self, statement: tree.Statement, waiting: dict[tree.Variable, tree.Node]) -> None:
        """Report the locks that a statement after their loop releases."""
        for node in walk(statement):
            for variable in self._changes(node):
                loop = waiting.get(variable)
                inside = loop is not None and any(node is inner for inner in walk(loop))
                if loop is not None and not inside:
                    del waiting[variable]
                    self._warn(loop, variable)

    def _waits_of_calls(
        self, statement: tree.Statement, waiting: dict[tree.Variable, tree.Node]
    ) -> None:
        """Visit the functions that a statement itself calls; note the locks that they take."""
        for node in walk(_own_parts(statement)):
            if isinstance(node, tree.Call):
                self.visit(node.function)
                waits = self.facts_of(node.function).waits
                for parameter, argument in zip(
                    node.function.parameters, node.arguments, strict=False
                ):
                    variable = _base(argument)
                    if parameter in waits and variable is not None:
                        waiting[variable] = node

    def _claims(self, node: tree.Node) -> Iterator[tuple[tree.Variable, tree.Node]]:
        """Yield the arrays of which a node claims an element, unless each lane has its own."""
        if _is_claim(node):
            assert isinstance(node, tree.CallIntrinsic)
            pointer = node.arguments[0]
            variable = _base(pointer)
            shared = isinstance(pointer, tree.AddressOf) and not self._is_own(pointer.indices)
            if variable is not None and shared:
                yield variable, node
        elif isinstance(node, tree.Call):
            claims = self.facts_of(node.function).claims
            for parameter, argument in zip(node.function.parameters, node.arguments, strict=False):
                variable = _base(argument)
                numbers = [a for a in node.arguments if _base(a) is not variable]
                if parameter in claims and variable is not None and not self._is_own(numbers):
                    yield variable, node

    def _changes(self, node: tree.Node) -> Iterator[tree.Variable]:
        """Yield the arrays that a node writes to."""
        places: list[object] = []
        if isinstance(node, tree.Store):
            places = [node.array]
        elif isinstance(node, tree.CallIntrinsic) and node.intrinsic.name.startswith("atomic."):
            places = [] if node.intrinsic.name == "atomic.load" else [node.arguments[0]]
        elif isinstance(node, tree.Call):
            changes = self.facts_of(node.function).changes
            pairs = zip(node.function.parameters, node.arguments, strict=False)
            places = [argument for parameter, argument in pairs if parameter in changes]
        yield from (variable for place in places if (variable := _base(place)) is not None)

    def _loop(self, loop: tree.While, waiting: dict[tree.Variable, tree.Node]) -> None:
        """Note the locks that a loop takes; report those that it also releases."""
        nodes = list(walk(loop))
        claims = [claim for node in nodes for claim in self._claims(node)]
        deciding = [(v, claim) for v, claim in claims if _decides(loop, nodes, claim)]
        others = (node for node in nodes if all(node is not claim for _, claim in deciding))
        released = {variable for node in others for variable in self._changes(node)}
        for variable, _ in deciding:
            if variable not in released:
                waiting[variable] = loop
            elif not self._lanes_meet(loop):
                self._warn(loop, variable)

    def _lanes_meet(self, loop: tree.While) -> bool:
        """Whether all lanes that are in the loop meet in each iteration."""
        own = [_own_parts(s) for s in loop.body if not isinstance(s, (tree.While, tree.ForRange))]
        return any(self._is_meeting(node) for node in walk((loop.condition, *own)))

    def _is_meeting(self, node: tree.Node) -> bool:
        if isinstance(node, tree.Call):
            return any(self._is_meeting(inner) for inner in walk(node.function.body))
        return isinstance(node, tree.CallIntrinsic) and node.intrinsic.name in _MEETINGS

    def _is_own(self, indices: Sequence[object]) -> bool:
        """Whether an index is the number of the lane, plus something, so that no two lanes share an
        element."""
        return any(self._is_lanes(index, 4) for index in indices)

    def _is_lanes(self, index: object, depth: int) -> bool:
        if isinstance(index, tree.Read) and depth:
            given = self.definitions.get(index.variable, [])
            return len(given) == 1 and self._is_lanes(given[0], depth - 1)
        if isinstance(index, tree.Convert):
            return self._is_lanes(index.operand, depth)
        if isinstance(index, tree.Binary) and index.operator in _KEEPS_LANES_APART:
            return self._is_lanes(index.left, depth) or self._is_lanes(index.right, depth)
        if isinstance(index, tree.Call):
            return index.function.name.partition(".")[0] in _OWN
        return isinstance(index, tree.CallIntrinsic) and index.intrinsic.name in _OWN

    def _warn(self, loop: tree.Node, variable: tree.Variable) -> None:
        found = Finding(
            "lock",
            loop.span,
            title=f"lanes of one wave may wait here for a lock in `{variable.name}` that one of "
            "them holds: then the loop never ends",
            label="the lane that has the lock leaves the loop together with all others",
            help="let one lane of the wave after the other take the lock: `for turn in "
            "range(amdjit.wavefront_size):` and in it `if amdjit.lane_id() == turn:`",
            category=CompileWarning,
        )
        self.found[loop.span.file, loop.span.line] = found


def _own_parts(statement: tree.Statement) -> object:
    """Return what a statement evaluates itself, without inner blocks."""
    if isinstance(statement, (tree.If, tree.While)):
        return statement.condition
    if isinstance(statement, tree.ForRange):
        return (statement.start, statement.stop, statement.step)
    return statement


def _decides(loop: tree.While, nodes: Sequence[tree.Node], claim: tree.Node) -> bool:
    """Whether the loop's end depends on a claim's result, directly or through variables."""
    reading: set[tree.Variable] = set()

    def depends(node: object) -> bool:
        return any(
            inner is claim or (isinstance(inner, tree.Read) and inner.variable in reading)
            for inner in walk(node)
        )

    branches = [node for node in nodes if isinstance(node, tree.If)]
    for _ in range(3):
        assigned = [node for node in nodes if isinstance(node, tree.Assign)]
        reading |= {node.variable for node in assigned if depends(node.value)}
        for branch in branches:
            if depends(branch.condition):
                inner = walk((branch.then, branch.otherwise))
                reading |= {node.variable for node in inner if isinstance(node, tree.Assign)}
    leaving = [
        b for b in branches if any(isinstance(n, tree.Break) for n in walk((b.then, b.otherwise)))
    ]
    return any(depends(end) for end in (loop.condition, *(branch.condition for branch in leaving)))


def _picks(condition: tree.Expression, is_true: bool) -> bool:
    """Whether a condition may hold (or fail, if not is_true) for few lanes of a wave: an equality,
    or a boolean that a function returns."""
    wanted = Comparison.EQUAL if is_true else Comparison.NOT_EQUAL
    return any(
        (isinstance(node, tree.Compare) and node.operator is wanted)
        or (isinstance(node, (tree.Call, tree.CallIntrinsic)) and node.type is boolean)
        for node in walk(condition)
    )
