"""Finds what a failed check tells: the call as the learner would type it, the values side by side, and the place."""

import ast
import functools
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch

from grader.catalog import paths, stubs
from grader.catalog.errors import BadSubmission
from grader.judge import messages
from grader.judge.compare import MAX_TEXT, Mismatch
from grader.judge.failure import Failure, shares_memory
from grader.judge.words import is_plain, kind, number, numbers_apart
from grader.records import source, syntax
from grader.records.evidence import Evidence, Finding, Mark, at, whole_line
from grader.records.results import ASLEEP, ENDLESS
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.sandbox.call_results import Call, LearnerError
from grader.worker.fake_device import tensors_in

MAX_ROWS, MAX_COLUMNS = 3, 8  # of the values that are shown
LARGEST = 1 << 20  # entries of a tensor that is looked at
TENSOR = re.compile(r"tensor (\([\d, ]*\)(?: (?:b?float|u?int|bool|complex)\d*)?)(?: non-contiguous)?")
RESULT = re.compile(r"the result(\[\d+\])*")
OWN_WORDS = ("your code ", "no gradient ")  # how our words for an error begin, where they begin with no name
IN_TRAINING, GRADIENTS = "in training", "its gradients"


def find(failure: Failure, file: Submission, reveal: bool, exercise: str) -> Finding:
    """What is known of a failed check before a change is tried: the error, the call, and where that was."""
    error = failure.error
    call = (error.call or failure.call) if isinstance(error, LearnerError) else failure.call
    said = [inert(line) for line in messages.words(error, failure.call, file, reveal, exercise)]
    evidence = _evidence(error, call, reveal, exercise)
    if isinstance(error, Mismatch) and evidence.got:
        said = []
    says = _sentence(said[0]) if said and isinstance(error, LearnerError) else ""
    note = "\n".join(said[1:] if says else said)
    evidence = replace(evidence, note=note)
    marks, function = _where(failure, call, file)
    place, frame = at(file.source, file.filename, marks, function) if marks else (None, ())
    return Finding(place, frame, evidence, says)


def in_definition(finding: Finding, names: Iterable[str], file: Submission) -> Finding:
    """The finding, in the first of these definitions that the file has, where no line is known but a definition's."""
    marks, function = _head(names, file)
    if finding.place is None or finding.place.column or not marks:
        return finding
    place, frame = at(file.source, file.filename, marks, function)
    return replace(finding, place=place, frame=frame)


def on_loading(error: LearnerError, file: Submission) -> Finding:
    """What is known of a file that could not be loaded."""
    said = [inert(line) for line in messages.on_no_result(error, file)]
    line, function, _ = error.frame
    place, frame = at(file.source, file.filename, (_whole(file.source, line),), function) if line else (None, ())
    notes = [line for line in said[1:] if not line.endswith(messages.GRADES)]
    return Finding(place, frame, Evidence(note="\n".join(notes)), _sentence(said[0]))


def _sentence(text: str) -> str:
    """The words of an error as a sentence, where they are ours."""
    if text.startswith((ASLEEP, ENDLESS)):
        return f"{text}."
    return f"{text[0].upper()}{text[1:]}." if text.startswith(OWN_WORDS) else text


def _evidence(error: BaseException, call: Call | None, reveal: bool, exercise: str) -> Evidence:
    """The call and the values."""
    if call is None:
        return Evidence()
    text, inputs = _typed(call, reveal, exercise)
    if not (reveal and isinstance(error, Mismatch)):
        return Evidence(text, inputs)
    got, expected, what = error.got, error.expected, _in_words(messages.name_arguments(error.what, call, exercise))
    if isinstance(got, torch.Tensor) and isinstance(expected, torch.Tensor):
        if error.is_right is None or not is_plain(got) or got.numel() > LARGEST:
            return Evidence(text, inputs, what)
        values, row = _of_tensors(got, expected, error.is_right)
        if what:
            return replace(values, call=text, inputs=inputs, what=f"{what}, at {row}" if row else what)
        path, index = _path(call.value, got)
        typed = "".join(f"[{place}]" for place in path) + index + row
        return replace(values, call=text + typed, inputs=inputs, what=_named(call.function, path, exercise))
    part, _, values_differ = error.details.rpartition("\n")
    if values_differ.startswith("expected "):
        part = _in_words(part.replace("\n", ", ")) or what
        return Evidence(text, inputs, part, ((_text(expected),),), ((_text(got),),), ((0, 0),))
    return Evidence(text, inputs)


def _in_words(what: str) -> str:
    """What is compared, where that is not the answer, or a part of it, itself."""
    return "" if RESULT.fullmatch(what) else what.rstrip(",")


def _of_tensors(got: torch.Tensor, expected: torch.Tensor, is_right: torch.Tensor) -> tuple[Evidence, str]:
    """The values around the first wrong one, a small matrix whole, else its row, and the index of the row."""
    wrong = ~is_right
    if got.ndim < 2:
        rows, prefix = [()], ()
    else:
        first = tuple(wrong.nonzero()[0].tolist())
        count = got.shape[-2]
        matrix = wrong[first[:-2]]
        is_small = count <= MAX_ROWS and int(matrix.any(-1).sum()) > 1 and not bool(matrix.all())
        rows = [(*first[:-2], row) for row in range(count)] if is_small else [first[:-1]]
        prefix = first[:-2] if is_small else first[:-1]
    flat = [(_flat(expected[row]), _flat(got[row]), _flat(wrong[row])) for row in rows]
    width = len(flat[0][2])
    at_column = int(flat[0][2].nonzero()[0]) if bool(flat[0][2].any()) else 0
    start = 0 if at_column < MAX_COLUMNS else at_column - MAX_COLUMNS // 2
    columns = range(start, min(width, start + MAX_COLUMNS))
    expected_rows, got_rows, wrong_cells = [], [], []
    for place, (theirs, mine, is_wrong) in enumerate(flat):
        pairs = [(theirs[column].item(), mine[column].item(), bool(is_wrong[column])) for column in columns]
        # More digits where two numbers that are wrong look the same.
        cells = [numbers_apart(right, got) if wrong else (number(right), number(right)) for right, got, wrong in pairs]
        lead, tail = ["…"] * (start > 0), ["…"] * (columns.stop < width)
        expected_rows.append((*lead, *(cell[0] for cell in cells), *tail))
        got_rows.append((*lead, *(cell[1] for cell in cells), *tail))
        wrong_cells += [(place, column - start + len(lead)) for column in columns if is_wrong[column]]
    values = Evidence(expected=tuple(expected_rows), got=tuple(got_rows), wrong=tuple(wrong_cells))
    return values, f"[{', '.join(map(str, prefix))}]" if prefix else ""


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1)


def _text(value: Any) -> str:
    """A value that is no tensor, as Python writes it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    try:
        text = repr(value) if isinstance(value, (str, int, list, tuple, dict, set, type(None))) else kind(value)
    except ValueError:  # Python writes no int of more than 4300 digits
        text = kind(value)
    return inert(text if len(text) <= MAX_TEXT and "tensor(" not in text else kind(value))


def _typed(call: Call, reveal: bool, exercise: str) -> tuple[str, str]:
    """The call as the learner would type it, with the lesson's names for tensors, and what they are."""
    text = call.text if reveal else call.outline
    wants = {"training": IN_TRAINING, "gradients": GRADIENTS}
    found = [match[1] for match in TENSOR.finditer(text)]
    numbers = iter(range(len(found)))
    try:
        tree = ast.parse(TENSOR.sub(lambda _: f"_tensor_{next(numbers)}", text), mode="eval").body
    except (SyntaxError, ValueError):
        return inert(text), wants.get(call.want, "")
    names = stubs.of_call(exercise, call.function)
    said: list[str] = []
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        is_last = node is tree
        for place, argument in enumerate([*node.args, *(keyword.value for keyword in node.keywords)]):
            if not (isinstance(argument, ast.Name) and argument.id.startswith("_tensor_")):
                continue
            shape = found[int(argument.id.removeprefix("_tensor_"))]
            keyword = node.keywords[place - len(node.args)].arg if place >= len(node.args) else None
            own = names[place] if is_last and place < min(len(names), len(node.args)) else ""
            argument.id = keyword or own.partition("=")[0].lstrip("*") or "tensor"
            said.append(f"{argument.id} {shape}")
    text = re.sub(r"_tensor_(\d+)", lambda match: f"tensor {found[int(match[1])]}", ast.unparse(tree))
    inputs = f"with {' and '.join([', '.join(said[:-1]), said[-1]] if len(said) > 1 else said)}" if said else ""
    return inert(text), inert(", ".join(filter(None, [inputs, wants.get(call.want, "")])))


def _path(value: object, got: torch.Tensor) -> tuple[list[int], str]:
    """The indices of the part of an answer that is compared, and the index in that tensor."""
    if isinstance(value, tuple):
        for place, part in enumerate(value):
            if any(shares_memory(got, tensor) for tensor in tensors_in(part)):
                path, index = _path(part, got)
                return [place, *path], index
    if not isinstance(value, torch.Tensor) or not shares_memory(got, value) or value.ndim <= got.ndim:
        return [], ""
    lead = value.ndim - got.ndim
    if value.shape[lead:] != got.shape or value.stride()[lead:] != got.stride():
        return [], ""
    offset, indices = int(got.storage_offset() - value.storage_offset()), []
    for stride in value.stride()[:lead]:
        position, offset = divmod(offset, stride) if stride else (0, offset)
        indices.append(position)
    return [], f"[{', '.join(map(str, indices))}]" if not offset else ""


@functools.lru_cache(128)
def _returned(exercise: str, function: str) -> ast.expr | None:
    """What the solution's function returns at its end."""
    path = paths.solution(exercise)
    if not path.exists():
        return None
    owner, _, method = function.partition(".")
    body = ast.parse(path.read_text("utf-8")).body
    if method or owner[:1].isupper():
        methods = [node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner]
        body, owner = methods[0] if methods else [], method.replace("__call__", "forward") or "forward"
    found = next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == owner), None)
    last = found.body[-1] if found is not None else None
    return last.value if isinstance(last, ast.Return) else None


def _named(function: str, path: list[int], exercise: str) -> str:
    """The solution's name for a part of what a function returns; "" where it has none."""
    node = _returned(exercise, function) if path else None
    for place in path:
        node = node.elts[place] if isinstance(node, ast.Tuple) and place < len(node.elts) else None
    return node.id if isinstance(node, ast.Name) else ""


def _definition(text: str, line: int) -> str:
    """The innermost function around a line, a method with its class, as "Layer.forward"; "" where there is none."""
    first, _, name = source.SourceWords(text).function_at(line)
    return max((full for full, at in source.outline(text)["lines"].items() if at == first), key=len, default=name)


def _where(failure: Failure, call: Call | None, file: Submission) -> tuple[tuple[Mark, ...], str]:
    """The lines that the failure itself names, else the definition that was called, and the function around them."""
    error = failure.error
    if failure.forbidden_line:
        line = failure.forbidden_line
        return (_whole(file.source, line),), _definition(file.source, line)
    if isinstance(error, LearnerError) and error.frame[0]:
        line = error.frame[0]
        return (_whole(file.source, line),), _definition(file.source, line)
    name = call.function.replace("__call__", "forward") if call is not None else ""
    return _head((name, name.partition(".")[0]), file)


def _head(names: Iterable[str], file: Submission) -> tuple[tuple[Mark, ...], str]:
    """The first of these definitions that the file has, by its first line."""
    try:
        lines = source.outline(file.source)["lines"]
    except BadSubmission:
        return (), ""
    return next(((((lines[name], 0, 0),), name) for name in names if name in lines), ((), ""))


def _whole(text: str, line: int) -> Mark:
    """A line with all of its code underlined; of a syntax error what Python points at."""
    try:
        caret = source.caret(text, line)
    except BadSubmission:
        caret = []
    lines = syntax.LINE_ENDS.split(text)
    if not caret:
        return whole_line(line, lines)
    code = (lines[line - 1 : line] or [""])[0]
    return line, min(caret[0], len(code)), min(max(caret), len(code) + 1)
