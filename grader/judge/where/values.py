"""Which statement computes a wrong value from right ones? The solution's values are put in the learner's place."""

import ast
import copy
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from grader.catalog import paths
from grader.judge.examiner import Examiner
from grader.judge.where.edits import Change, Tree, Unit, is_docstring, names_read, parameters_of
from grader.judge.where.place import Group
from grader.judge.where.trial import Probe, Trial, call
from grader.sandbox.local import Local
from grader.worker import protocol, wire
from grader.worker.codec import Decoder

MAX_TENSORS = 300  # of one run
MAX_ELEMENTS = 4096  # of one tensor
MAX_DIVISORS = 2
PLAIN = (torch.Tensor, torch.nn.Parameter)  # a tensor on the device meta has no values
DIVIDING = (torch.div, torch.true_divide, torch.Tensor.div, torch.Tensor.true_divide, torch.Tensor.__truediv__)
MULTIPLYING = (torch.mul, torch.Tensor.mul, torch.Tensor.__mul__, torch.Tensor.__rmul__)
GIVEN, PUT, LOG = "where_given", "where_put", "where_log"
SUPPORT = f"""
import torch as _where_torch
_where_values, _where_seen = {{}}, []
def _where_whole(value):
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, _where_torch.Tensor) for one in value):
        return _where_torch.stack(list(value)) if len({{one.shape for one in value}}) == 1 else None
    return value if isinstance(value, _where_torch.Tensor) else None
def {GIVEN}(mark, value):
    whole = _where_whole(value)
    if mark in _where_values:
        put = _where_values[mark]
        if whole is not None:
            put = put.to(whole.dtype)
        value = type(value)(put.unbind(0)) if isinstance(value, (list, tuple)) else put
    if len(_where_seen) < 400:
        _where_seen.append([mark, whole.detach().clone() if whole is not None and whole.numel() <= 4096 else None])
    return value
def {PUT}(mark, value):
    _where_seen.clear()
    _where_values.clear()
    if mark >= 0:
        _where_values[mark] = value
def {LOG}():
    return list(_where_seen)
"""
MAX_VALUES = 16  # values that are tried in one place
MAX_TRIALS = 100  # replacements in all, for one probe
PROBES = 2  # probes of a group that are looked at
PROBED = (protocol.Call, protocol.CallWithInputs)  # the kinds of requests whose run can be read


@dataclass(frozen=True)
class Step:
    """A tensor of the solution's run, and the tensors from which it was computed."""

    value: torch.Tensor
    inputs: tuple[torch.Tensor, ...]


class KnownValues:
    """The values of a run, also transposed, negated, and with dimensions split or joined."""

    def __init__(self, steps: Sequence[Step]):
        self.by_size: dict[int, list[tuple[_Flat, Step]]] = defaultdict(list)
        for step in steps:
            for variant in _variants(step.value):
                same_size, flat = self.by_size[variant.numel()], _Flat(variant)
                if not any(flat.equals(known_flat) for known_flat, _ in same_size):
                    same_size.append((flat, Step(variant, step.inputs)))

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        if not isinstance(value, torch.Tensor):
            return False
        flat = _Flat(value)
        return any(flat.equals(known_flat) for known_flat, _ in self.by_size[value.numel()])

    def replacements_of(self, value: Any) -> list[Step]:
        """The steps whose values may replace a value: those with as many elements, else with as many dimensions."""
        if not isinstance(value, torch.Tensor):
            return []
        same_size = [Step(entry.value.reshape(value.shape), entry.inputs) for _, entry in self.by_size[value.numel()]]
        same_ndim = [
            entry for entries in self.by_size.values() for _, entry in entries if entry.value.ndim == value.ndim
        ]
        return [step for step in same_size or same_ndim if step.inputs]


class _Flat:
    """The elements of a tensor in order, and its device. checksum: a weighted sum, which differs for most others."""

    def __init__(self, value: torch.Tensor):
        self.device, self.numbers = value.device, value.cpu().flatten().double()
        finite = self.numbers.nan_to_num(0.0, 0.0, 0.0)
        self.checksum = float(finite @ torch.linspace(1, 2, len(finite), dtype=torch.float64))

    def equals(self, other: "_Flat") -> bool:
        if self.device != other.device:
            return False
        if abs(self.checksum - other.checksum) > 1e-3 * (abs(self.checksum) + abs(other.checksum)) + 1e-4 * len(
            self.numbers
        ):
            return False
        return torch.allclose(self.numbers, other.numbers, 1e-4, 1e-6, equal_nan=True)


class _TensorRecorder(TorchFunctionMode):
    """Keeps every tensor that goes into a function of torch or comes out of it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.divisors: list[float] = []  # by which tensors were divided

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        inputs = _small_copies((*args, *(kwargs or {}).values()))
        result = function(*args, **(kwargs or {}))
        divisor = 1 / number if (number := _number(args)) and function in MULTIPLYING else number
        if function in (*DIVIDING, *MULTIPLYING) and divisor and divisor not in self.divisors:
            self.divisors.append(divisor)
        if len(self.steps) < MAX_TENSORS:
            self.steps += [Step(value, ()) for value in inputs]
            self.steps += [Step(value, inputs) for value in _small_copies((result,))]
        return result


def solution_steps(examiner: Examiner, probe: Probe) -> list[Step]:
    """What the solution computes for the answer to a probe."""
    solution = Local.load(paths.solution(examiner.exercise.folder), examiner.exercise.slug)
    *earlier_requests, last_request = (protocol.decode_request(body) for body in probe.requests)
    for request in earlier_requests:
        solution.answer(*request)
    state, recorder = torch.get_rng_state(), _TensorRecorder()
    try:
        with recorder:
            solution.executor.handle(*last_request)
    finally:
        torch.set_rng_state(state)
    return [*recorder.steps, *scale(recorder.steps, recorder.divisors[:MAX_DIVISORS])]


def scale(steps: Sequence[Step], divisors: Sequence[float]) -> list[Step]:
    """The same values divided by each divisor, since right code may divide earlier or later than the solution."""
    computed_steps = [step for step in steps if step.value.is_floating_point() and step.value.ndim > 1 and step.inputs]
    return [Step(step.value / divisor, step.inputs) for divisor in divisors for step in computed_steps]


@dataclass(frozen=True)
class Mark:
    """A value that is assigned to a name, or returned, or an operation or call within such an expression.

    name: the name, "" where there is none. reads: the names that the statement reads. is_input: whether the value is a
    parameter. number: the mark's number among all marks of the source.
    """

    unit: Unit
    line: int
    name: str
    reads: frozenset[str] = frozenset()
    is_input: bool = False
    number: int = -1

    @property
    def uses_self(self) -> bool:
        return "self" in self.reads


def put_marks(tree: Tree, units: Sequence[Unit]) -> tuple[str, list[Mark]]:
    """The source with marks in these definitions, and the marks in the order of their numbers.

    Statements in a loop get no mark, as they have many values. Raises ValueError where no source can be made.
    """
    marks: list[Mark] = []
    changes = []
    for unit in units:
        node = copy.deepcopy(unit.node)
        docstring, body = (node.body[:1], node.body[1:]) if is_docstring(node.body[0]) else ([], node.body)
        arguments = [parameter.arg for parameter in parameters_of(node)]
        inputs = [Mark(unit, node.lineno, name, is_input=True) for name in arguments if name not in ("self", "cls")]
        node.body = [*docstring, *_marking_statements(inputs, marks), *_body(body, unit, marks)]
        holder = unit.owner or tree.module
        changes.append(Change(holder, "body", holder.body.index(unit.node), node))
    return tree.changed(tuple(changes), {unit.top for unit in units}) + SUPPORT, marks


class _ExpressionMarker(ast.NodeTransformer):
    """Puts a mark on each operation and each call within an expression."""

    def __init__(self, unit: Unit, marks: list[Mark]):
        self.unit, self.marks = unit, marks

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self._marked(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self._marked(node)

    def _marked(self, node: ast.expr) -> ast.AST:
        reads = _read(node)
        self.generic_visit(node)
        return _call(Mark(self.unit, node.lineno, "", reads), node, self.marks)

    def _unchanged(self, node: ast.AST) -> ast.AST:
        return node  # it may be computed many times

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = visit_JoinedStr = _unchanged


@dataclass(frozen=True)
class Suspicion:
    """What the values of a run say.

    certain_line: the line that computes a wrong value from right ones, None where unknown. likely_line: the same where
    the solution computes its value from others that the learner's code does not have. right_lines: the lines whose
    values are right. later_lines: the lines after a value that may be wrong: with the solution's value in its place the
    answer is right.
    """

    certain_line: int | None = None
    likely_line: int | None = None
    right_lines: frozenset[int] = frozenset()
    later_lines: frozenset[int] = frozenset()


NOTHING = Suspicion()


class Values:
    """Compares the values of a submission's run with those of the solution's."""

    def __init__(self, examiner: Examiner, tree: Tree, trial: Trial):
        self.examiner, self.tree, self.trial = examiner, tree, trial

    def suspicion(self, group: Group, probes_by_check: dict[str, Probe]) -> Suspicion:
        """What the values of the group's calls say: all of them must say it."""
        usable = [probes_by_check[check.id] for check in group.checks if check.id in probes_by_check]
        usable = [probe for probe in usable if type(protocol.decode_request(probe.requests[-1])[0]) in PROBED]
        if not usable or group.base:
            return NOTHING
        try:
            source, marks = put_marks(self.tree, group.units)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return NOTHING
        of_probes = (self._of_probe(group, source, marks, probe) for probe in sorted(usable, key=_cost))
        suspicions = list(itertools.islice((found for found in of_probes if found is not None), PROBES))
        if not suspicions:
            return NOTHING
        certain, likely = {found.certain_line for found in suspicions}, {found.likely_line for found in suspicions}
        right = frozenset.intersection(*(found.right_lines for found in suspicions))
        later = frozenset.intersection(*(found.later_lines for found in suspicions))
        agreed = likely.pop() if len(likely) == 1 and len(suspicions) == PROBES else None
        return Suspicion(certain.pop() if len(certain) == 1 else None, agreed, right, later)

    def _of_probe(self, group: Group, source: str, marks: list[Mark], probe: Probe) -> Suspicion | None:
        """What the values of one call say; None where they say nothing."""
        *earlier_requests, last_request = probe.requests
        requests = (*earlier_requests, call(PUT, -1, 0), last_request, call(LOG))
        answer = next(iter(self.trial.answers([source], requests)), None)
        run = _run(answer[-1], marks) if answer is not None and not probe.fits(answer[-2]) else []
        if not run:
            return None
        known = KnownValues(solution_steps(self.examiner, probe))
        wrong_numbers = [n for n, (mark, value) in enumerate(run) if not (mark.is_input or known.holds(value))]
        trials = [
            (n, step)
            for n in wrong_numbers
            for step in known.replacements_of(run[n][1])[:MAX_VALUES]
            if not (_has_equal_sums(step.value) and _is_divided_later(run[n][0]))
        ][:MAX_TRIALS]
        healing = self._healing(source, probe, [(run[n][0].number, step.value) for n, step in trials])
        healed = [trial for trial, heals in zip(trials, healing) if heals]
        right_lines = frozenset(mark.line for mark, value in run if known.holds(value))
        right_lines -= {run[n][0].line for n in wrong_numbers}
        if not healed:
            return Suspicion(right_lines=right_lines)
        healed_number, step = healed[0]
        healed_mark = run[healed_number][0]
        later_lines = frozenset(line for line in healed_mark.unit.lines if line > healed_mark.line)
        own_values = KnownValues([Step(value, ()) for _, value in run if isinstance(value, torch.Tensor)])
        likely_line = healed_mark.line if self._is_sure(group, run, healed_number, known) else None
        certain_line = likely_line if all(map(own_values.holds, step.inputs)) else None
        return Suspicion(certain_line, likely_line, right_lines, later_lines)

    def _healing(self, source: str, probe: Probe, trials: list[tuple[int, torch.Tensor]]) -> list[bool]:
        """For each replacement of a mark's value, whether the probe is answered rightly with it.

        trials: the numbers of the marks, and the values that replace theirs.
        """
        *earlier_requests, last_request = probe.requests
        if not trials:
            return []
        requests = [request for number, value in trials for request in (call(PUT, number, value), last_request)]
        answer = next(iter(self.trial.answers([source], (*earlier_requests, *requests))), None)
        if answer is None:
            return [False] * len(trials)
        return [probe.fits(body) for body in answer[len(earlier_requests) + 1 :: 2]]

    def _is_sure(self, group: Group, run: list[tuple[Mark, Any]], number: int, solution_values: "KnownValues") -> bool:
        """Whether all that the statement at this place of the run reads is right.

        Attributes of `self` count as right where the one method that is to blame is known. What a loop writes counts
        as unknown: it has no mark there, so its value before the loop is neither what is read after it nor the result.
        """
        mark = run[number][0]
        if (mark.reads | {mark.name}) & _written_in_loops(mark):
            return False
        if mark.uses_self and not (group.is_sure and mark.unit is group.units[0]):
            return False
        stored = {other_mark.name for other_mark in marks_of(run, mark)}
        for name in mark.reads & stored:
            values_before = [
                value for other_mark, value in run[:number] if other_mark.unit is mark.unit and other_mark.name == name
            ]
            if not values_before or not solution_values.holds(values_before[-1]):
                return False
        unread = _locals(mark) - stored
        return not mark.reads & unread


def marks_of(run: list[tuple[Mark, Any]], mark: Mark) -> list[Mark]:
    """The marks of the same definition that were met."""
    return [met_mark for met_mark, _ in run if met_mark.unit is mark.unit]


def _small_copies(values: Any) -> tuple[torch.Tensor, ...]:
    """Copies of those tensors among these values that are not too large."""
    copies: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, (tuple, list)):
            copies += _small_copies(value)
        elif type(value) in PLAIN and value.device.type == "cpu" and value.numel() <= MAX_ELEMENTS:
            with torch._C.DisableTorchFunction():
                copies.append(value.detach().clone())
    return tuple(copies)


def _number(arguments: Sequence[Any]) -> float:
    """The number by which a tensor is divided or multiplied; 0 where it is 1 or no single number."""
    operand = arguments[-1] if len(arguments) == 2 else None
    if isinstance(operand, torch.Tensor) and operand.numel() == 1 and operand.ndim == 0:
        with torch._C.DisableTorchFunction():
            operand = operand.item()
    number = float(operand) if isinstance(operand, (int, float)) and not isinstance(operand, bool) else 0.0
    return 0.0 if number == 1 or not math.isfinite(number) else number


def _variants(value: torch.Tensor) -> Iterator[torch.Tensor]:
    yield value
    if value.ndim >= 2 and value.shape[-1] != value.shape[-2]:  # a square table's mirror image is often the mistake
        yield value.mT
    if value.ndim == 3:
        yield from (value.permute(1, 0, 2), value.permute(1, 2, 0), value.permute(2, 0, 1))
    if value.ndim == 4:
        yield value.transpose(1, 2)
    if value.dtype == torch.bool:
        yield ~value


def _body(body: list[ast.stmt], unit: Unit, marks: list[Mark]) -> list[ast.stmt]:
    marked_body: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.If, ast.With)):
            statement.body = _body(statement.body, unit, marks)
            if isinstance(statement, ast.If):
                statement.orelse = _body(statement.orelse, unit, marks)
        reads = _read(statement)
        if (
            isinstance(statement, (ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign))
            and statement.value is not None
        ):
            statement.value = _ExpressionMarker(unit, marks).visit(statement.value)
        if isinstance(statement, ast.Return) and statement.value is not None:
            statement.value = _call(Mark(unit, statement.lineno, "", reads), statement.value, marks)
        marked_body.append(statement)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
            new_marks = [Mark(unit, statement.lineno, name, reads) for name in dict.fromkeys(_stored(statement))]
            marked_body += _marking_statements(new_marks, marks)
    return marked_body


def _marking_statements(new_marks: list[Mark], marks: list[Mark]) -> Iterator[ast.stmt]:
    for mark in new_marks:
        value = _call(mark, ast.Name(mark.name, ast.Load()), marks)
        yield ast.Assign([ast.Name(mark.name, ast.Store())], value, lineno=0)


def _call(mark: Mark, value: ast.expr, marks: list[Mark]) -> ast.Call:
    marks.append(replace(mark, number=len(marks)))
    return ast.Call(ast.Name(GIVEN, ast.Load()), [ast.Constant(len(marks) - 1), value], [])


def _read(node: ast.AST) -> frozenset[str]:
    """The names that a node reads, without those of its comprehensions."""
    names = names_read(node)
    targets = [child.target for child in ast.walk(node) if isinstance(child, ast.comprehension)]
    comprehension_names = {child.id for target in targets for child in ast.walk(target) if isinstance(child, ast.Name)}
    changed = {node.target.id} if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else set()
    return frozenset((names - comprehension_names) | changed)


def _stored(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[str]:
    """The names to which a statement assigns, or of whose value it changes a part."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        for element in target.elts if isinstance(target, ast.Tuple) else [target]:
            container = element.value if isinstance(element, ast.Subscript) else element
            if isinstance(container, ast.Name):
                yield container.id


def _run(body: bytes | bytearray, marks: list[Mark]) -> list[tuple[Mark, Any]]:
    """The marks in the order in which they were met, with their values, without those that were met twice."""
    try:
        reply, tensors = protocol.decode_reply(body)
        log = Decoder(tensors).value(reply.value)
    except wire.ProtocolError:
        return []
    entries = log if isinstance(log, list) else []
    pairs = [entry for entry in entries if isinstance(entry, (list, tuple)) and len(entry) == 2]
    times = Counter(number for number, _ in pairs if type(number) is int)
    return [(marks[n], value) for n, value in pairs if times[n] == 1 and 0 <= n < len(marks)]


def _cost(probe: Probe) -> int:
    return probe.cost


def _has_equal_sums(value: torch.Tensor) -> bool:
    """Whether the value is normalised along a dimension, or a multiple of such a value."""
    sums = [value.sum(dim).flatten() for dim in range(value.ndim)] if value.is_floating_point() else []
    return any(torch.allclose(total, total[:1].expand_as(total), atol=1e-4) for total in sums)


def _is_divided_later(mark: Mark) -> bool:
    """Whether a later line of the definition divides by a sum. That leaves normalised values as they are."""
    divisions = [
        node for node in ast.walk(mark.unit.node) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    ]
    return any(node.lineno > mark.line and "sum" in ast.unparse(node.right) for node in divisions)


def _written_in_loops(mark: Mark) -> set[str]:
    """The names to which a loop of the definition assigns, or of whose value it changes a part."""
    loops = [node for node in ast.walk(mark.unit.node) if isinstance(node, (ast.For, ast.While))]
    assigning = (ast.Assign, ast.AnnAssign, ast.AugAssign)
    statements = (node for loop in loops for node in ast.walk(loop) if isinstance(node, assigning))
    return {name for statement in statements for name in _stored(statement)}


def _locals(mark: Mark) -> set[str]:
    """The names that the definition gives a value anywhere."""
    nodes = ast.walk(mark.unit.node)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
