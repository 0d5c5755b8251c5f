"""The words for what went wrong in a check, and for an exception of the learner's.

With `reveal=False` no hidden value and no text that may hold one is in them.
"""

import builtins
import difflib
import re
import signal
import sys
from collections.abc import Iterable
from typing import Any

from grader.catalog import paths, stubs
from grader.judge.compare import Mismatch
from grader.judge.words import likeness, shorten
from grader.records import source, syntax
from grader.records.results import ASLEEP, ENDLESS, NOT_AGAIN, NOT_WRITTEN
from grader.records.sanitize import inert
from grader.records.source import caret
from grader.records.submission import Submission
from grader.sandbox.call_results import Call, LearnerError, LeftOut

MEMORY = ("can't allocate memory", "not enough memory", "DefaultCPUAllocator", "CUDA out of memory")
# raise ValueError("…") or assert …, "…", with a plain text and nothing behind it
OWN_TEXT = re.compile(r"""\s*(?:raise\s+[\w.]+\(\s*|assert\b[^'"]*,\s*)(["'])([^"'\\]*)\1\s*\)?\s*(?:#.*)?""")
# What a line looks like that only a newer Python reads, and from which one on.
NEWER = (
    ((3, 11), re.compile(r"except\s*\*")),
    (
        (3, 12),
        re.compile(
            r"(?:async\s+)?(?:def|class)\s+\w+\[|type\s+\w+(?:\[.*\])?\s*=|.*\b[rR]?[fF][rR]?([\"']).*\{[^}]*\1"
        ),
    ),
    ((3, 14), re.compile(r"except\s+[\w.]+\s*,|.*\b[tT][\"']")),
)
MOST_LINES, WIDEST = 100_000, 400  # of a source, characters of a line in which such a text is looked for
SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "Python itself crashed in it (segmentation fault)",
    signal.SIGABRT: "Python itself crashed in it (abort)",
    signal.SIGBUS: "Python itself crashed in it (bus error)",
    signal.SIGFPE: "Python itself crashed in it (arithmetic fault)",
    signal.SIGILL: "Python itself crashed in it (illegal instruction)",
    signal.SIGXCPU: "it used up its processor time, which looks like an infinite loop",
    signal.SIGKILL: "it was killed, probably for using too much memory",
    signal.SIGSYS: "it asked the system for something that graded code may not do",
}
COMPILED = re.compile(r"^[^#\n]*\btorch\.compile\b|^from torch import [^#\n]*\bcompile\b|^[^#\n]*\w\.compile\(\)", re.M)
NOT_COMPILED = "torch.compile was left out: your code ran as if it were not there, and gives the same answers"
NO_FORWARD = "_forward_unimplemented"  # what nn.Module has in the place of forward
WRITES_CALL = "has no method forward. Is it called __call__? Rename it: nn.Module's own __call__ runs forward"
RELATIVE = "attempted relative import"  # how Python's text on `from .other import name` begins
OTHER_FILES = "your other files are not here"
ALONE = "Use torch and the standard library, and put code of your other files into this one: it is graded alone"
GRADES = "grades your file"  # which Python does
MAX_NOTES = 5  # the most statements left out of which each has a note of its own
MAX_NAMES = 6  # of what a file defines, in the message on what it does not
LIKE_A_TYPO = 0.85  # the least likeness of two names of which one is taken for the other, misspelt
SLIPS = ("NameError", "AttributeError", "ImportError", "ModuleNotFoundError")  # which no argument brings about
MAX_REASON, MAX_LINE = 100, 300  # characters of an exception's text in a note, and in a message


def exception(facts: dict[str, Any], file: Submission, reveal: bool = True) -> list[str]:
    """An exception of the learner's, and what is known of its reason."""
    kind, text = str(facts.get("type", "Exception")), str(facts.get("message", ""))
    if kind == "PackageNotFoundError":
        head = f"{kind}: no package {facts.get('missing_module') or ''!r} is installed here, so it has no version"
    elif kind == "SystemExit":
        head = "your code ended the program (sys.exit or SystemExit): remove that line"
    elif is_about_memory(facts):
        head = "your code asked for more memory than the exercise allows"
    elif kind == "RecursionError":
        head = "RecursionError: a function calls itself without end"
    elif missing_file := _missing_file(facts):
        head = f"{kind}: {missing_file}"
    else:
        first_line = shorten(text.strip().splitlines()[0], MAX_LINE) if text.strip() else ""
        head = f"{kind}: {first_line}" if first_line and (reveal or is_own_text(text, facts, file)) else kind
    lines = [head]
    if kind == "SyntaxError":
        lines.append(_which_python(str(((facts.get("frames") or [["", "", ""]])[-1] + ["", "", ""])[2]).strip()))
    if left_out := facts.get("left_out"):
        missing_file = _missing_file(left_out.error.facts)
        reason = f": {missing_file}" if missing_file else ""
        lines.append(f"it comes from {syntax.place(file.source, left_out.line)}, which failed on loading{reason}")
    if name := _builtin_given(head, facts):
        lines.append(f"{name} is Python's own function here: what is the name of the variable that you mean?")
    return lines


def traceback(facts: dict[str, Any], file: Submission) -> list[str]:
    """The lines of the learner's own file that led to an exception."""
    kind, lines = facts.get("type"), []
    frames = [tuple([*frame, "", ""][:3]) for frame in facts.get("frames") or []]
    for line, function, code in dict.fromkeys(frames):  # a comprehension has a frame of its own on the same line
        within = f" in {function}" if function and function != "<module>" else ""
        lines.append(syntax.in_file(file.source, file.filename, line) + within)
        if code:
            lines.append(f"    {code}")
            lines += _caret(str(kind), code, line, file.source)
    return lines


def _which_python(code: str) -> str:
    """Which Python reads the file, and from which one on it would read this line, where that is known."""
    here = sys.version_info[:2]
    newer = next((version for version, form in NEWER if version > here and form.match(code)), None)
    needs = f"; this line is valid from Python {newer[0]}.{newer[1]} on" if newer else ""
    return f"Python {here[0]}.{here[1]} {GRADES}{needs}"


def _missing_file(facts: dict[str, Any]) -> str:
    """Which module or file an import did not find, and what to do; "" where it found all, or no import failed."""
    if facts.get("missing_module"):
        return f"there is no module {facts['missing_module']!r} here. {ALONE}"
    is_relative = facts.get("type") == "ImportError" and RELATIVE in str(facts.get("message", ""))
    return f"{OTHER_FILES}. {ALONE}" if is_relative else ""


def is_own_text(text: str, facts: dict[str, Any], file: Submission) -> bool:
    """Whether the text of an exception is word for word a string on the learner's line that raised it.

    Then it holds no hidden input. An f-string, a variable or an escape may hold one.
    """
    number = ((facts.get("frames") or [[0]])[-1] or [0])[0]
    lines = file.source.split("\n", number)[:number] if 0 < number <= MOST_LINES else []
    is_read = 0 < len(lines) == number and len(lines[-1]) <= WIDEST
    match = OWN_TEXT.fullmatch(lines[-1].rstrip("\r")) if is_read else None
    return bool(match and match[2] == text)


def is_about_memory(facts: dict[str, Any]) -> bool:
    """Whether what happened is that memory was asked for and not given."""
    text = str(facts.get("message", ""))
    return facts.get("type") == "MemoryError" or any(phrase in text for phrase in MEMORY)


def ending(status: int | None) -> str:
    """How a process ended, in words."""
    if status is not None and status < 0:
        return SIGNALS.get(-status, f"its process was ended by signal {-status}")
    if status == 0 or status is None:
        return "your code ended the whole process (os._exit?)"
    return f"your code ended the whole process with exit code {status} (os._exit, or a crash inside a library)"


def failure(error: BaseException, call: Call | None, file: Submission, reveal: bool = True, exercise: str = "") -> str:
    """The message to the learner on a failed check: several lines, the first of which is the cause.

    exercise: the folder of the exercise, whose names and arguments the message may mention.
    """
    if isinstance(error, LearnerError):
        slip = slipped(error, error.call or call, file)
        call_lines = [called(error.call, reveal)] if error.call else []
        return "\n".join([slip, *call_lines]) if slip else learner_error(error, file, reveal, exercise)
    lines = words(error, call, file, reveal, exercise)
    if call is not None:
        lines.append(called(call, reveal) + (" for its gradients" if call.want == "gradients" else ""))
    if reveal and isinstance(error, Mismatch) and error.details:
        lines.extend(error.details.splitlines())
    return "\n".join(lines)


def words(
    error: BaseException, call: Call | None, file: Submission, reveal: bool = True, exercise: str = ""
) -> list[str]:
    """What went wrong in a check, without the call, the values and the lines that led to it."""
    if isinstance(error, LearnerError):
        slip = slipped(error, error.call or call, file)
        return [slip] if slip else on_no_result(error, file, reveal, exercise)
    text = error.summary if isinstance(error, Mismatch) else str(error).split("\nassert ")[0]
    return [name_arguments(text, call, exercise)]


def name_arguments(text: str, call: Call | None, exercise: str) -> str:
    """The text with the lesson's names for "argument 0" and others, where they are known."""
    names = stubs.of_call(exercise, call.function) if call is not None and exercise else ()

    def name(found: re.Match[str]) -> str:
        place = int(found[1])
        known = place < len(names) and not any(one.startswith("*") for one in names[: place + 1])
        return names[place].partition("=")[0] if known else found[0]

    return re.sub(r"\bargument (\d{1,3})\b", name, text)


def learner_error(error: LearnerError, file: Submission, reveal: bool = True, exercise: str = "") -> str:
    """The message on a call that gave no result: what went wrong, where, and the call."""
    said = on_no_result(error, file, reveal, exercise)
    if error.is_not_started or error.kind == "missing" or error.facts.get("in_all") or error.facts.get("again"):
        return "\n".join(said)
    where = traceback(error.facts, file) if error.kind == "exception" else []
    return "\n".join([*said, *where, *([called(error.call, reveal)] if error.call else [])])


def on_no_result(error: LearnerError, file: Submission, reveal: bool = True, exercise: str = "") -> list[str]:
    """What is to say of a call that gave no result."""
    facts, call, filename = error.facts, error.call, file.filename
    call_name = call.function if call else ""
    name = call_name.removesuffix(".__call__") or "the file"
    if error.is_not_started:
        line, function, _ = error.frame
        location = syntax.in_file(file.source, filename, line)
        return [f"{NOT_WRITTEN}{function or name} ({location})"]
    if error.kind == "missing":
        return [missing(name, facts.get("names") or [], filename, exercise)]
    if error.kind == "signature":
        if NO_FORWARD in str(facts["signature"]):
            return [f"{name} {WRITES_CALL}"]
        reason = f": {facts['signature']}" if reveal else ""
        renamed = renamed_arguments(str(facts["signature"]), call.outline if call else "")
        which = "this argument" if len(renamed) == 1 else "these arguments"
        advice = [f"the lesson calls {which} {', '.join(renamed)}"] if renamed else []
        lesson = [] if renamed or name != call_name else in_the_lesson(name, exercise)
        return [*advice, f"{name} cannot be called as the lesson says{reason}", *lesson]
    if error.kind == "timeout":
        if facts.get("in_all"):
            return [f"your code has taken {facts['seconds']:g} s in all, which is the limit: nothing more was called"]
        what = ASLEEP if facts.get("asleep") else ENDLESS
        if facts.get("again"):
            return [f"{what}: {name} {NOT_AGAIN}"]
        clock = " on the clock" * bool(facts.get("asleep"))
        return [f"{what}: {name} ran for more than {facts['seconds']:g} s{clock}, so it was stopped"]
    if error.kind == "ended":
        return [f"{name} gave no answer: {ending(facts['status'])}"]
    if error.kind == "gradient":
        text = f"no gradient comes back from {name}: {facts['message']}"
        return [text, "look for detach, .data, .item(), no_grad, tolist, numpy or torch.tensor(…)"]
    if error.kind == "protocol":
        return [f"{name} gave no answer that can be read: {facts['message']}"]
    lesson = in_the_lesson(name, exercise) if _takes_others(call_name, facts, file, exercise) else []
    return [*exception(facts, file, reveal), *lesson]


def _takes_others(name: str, facts: dict[str, Any], file: Submission, exercise: str) -> bool:
    """Whether the learner's class has other arguments than the lesson's, which may be why making it failed."""
    lesson = stubs.asked(exercise).get(name) if exercise else None
    if not lesson or not name[:1].isupper() or facts.get("type") in SLIPS:
        return False
    own = source.outline(file.source)["arguments"].get(name)
    return own is not None and _names(own)[: len(lesson)] != _names(lesson)


def in_the_lesson(name: str, exercise: str) -> list[str]:
    """The line with a function or class and its arguments as the lesson has them; none where that is not known."""
    arguments = stubs.asked(exercise).get(name) if exercise else None
    return [] if arguments is None else [f"lesson   {name}({', '.join(arguments)})"]


def called(call: Call, reveal: bool) -> str:
    """The call that a check made, as the learner reads it."""
    return f"called   {call.text if reveal else call.outline}{' in training' * (call.want == 'training')}"


def slipped(error: LearnerError, call: Call | None, file: Submission) -> str:
    """The slip in the source because of which a definition is not where it belongs; "" where there is none."""
    if call is None or error.is_not_started:
        return ""
    owner, _, method = call.function.partition(".")
    if error.kind == "missing" and not method:
        return source.slip(file.source, "", owner)
    if error.kind == "missing":
        return source.slip(file.source, owner, method)
    if error.kind not in ("exception", "signature"):
        return ""
    kind, frames = error.facts.get("type"), error.facts.get("frames")
    if kind == "AttributeError" or not method:  # what was never set is missing
        slip = source.slip(file.source, owner, "__init__")
        return slip if kind == "AttributeError" or not frames else ""
    method = "forward" if method == "__call__" else method
    return "" if frames else source.slip(file.source, owner, method)


def notes_on_loading(failed: list[LeftOut], file: Submission) -> tuple[str, ...]:
    """A line for each statement that failed, up to MAX_NOTES, one for the rest, and one on torch.compile."""
    notes = list(dict.fromkeys(inert(left_out(statement, file.source)) for statement in failed))  # equal for `a(); b()`
    lines = notes[:MAX_NOTES]
    omitted = len(notes) - len(lines)
    lines += [f"… and {omitted} more"] * bool(omitted) + [NOT_COMPILED] * bool(COMPILED.search(file.source))
    return tuple(lines)


def left_out(statement: LeftOut, source: str) -> str:
    """The note on a top-level statement that failed, on one line. Nothing hidden was known to it."""
    facts, location = statement.error.facts, syntax.place(source, statement.line)
    if statement.error.kind == "timeout":
        return f"{location} took longer than {facts['seconds']:g} s: it was stopped and left out"
    if statement.error.kind == "ended":
        return f"{location} was left out: {ending(facts['status'])}"
    kind, text = str(facts.get("type", "Exception")), " ".join(str(facts.get("message", "")).split())
    reason = facts.get("missing_module") or shorten(text, MAX_REASON)
    if kind == "PackageNotFoundError":
        reason = f"no package {reason} is installed here"
    elif kind == "ImportError" and RELATIVE in text:
        reason = OTHER_FILES
    return f"{location} failed and was left out: {kind}{', ' * bool(reason)}{reason}"


def renamed_arguments(signature: str, outline: str) -> list[str]:
    """The names by which a call gave arguments that the learner's function calls otherwise."""
    depth, start = 0, len(outline)
    while start and (depth or start == len(outline)):  # back to where the last call opens
        start -= 1
        depth += (outline[start] == ")") - (outline[start] == "(")
    described_call = re.split(r": (?:missing|got|too many|multiple) ", signature)[0]
    keywords = re.findall(r"[(,] ?(\w+)=", outline[start:])
    return [name for name in keywords if not re.search(rf"\b{name}\b", described_call)]


def missing(name: str, names: list[str], filename: str, exercise: str = "") -> str:
    """A function or class that the file lacks, with the name that was probably meant.

    A name that some exercise asks for is no misspelt one, nor is the wanted name with a beginning or an ending more or
    less.
    """
    if name in names:
        return f"{filename} had {name} when it was loaded, but no longer has it: do not delete or replace it"
    others = [candidate for candidate in names if not _one_is_the_other_longer(name, candidate)]
    others = [candidate for candidate in others if not stubs.is_asked(candidate)]
    if close := difflib.get_close_matches(name, others, n=1, cutoff=LIKE_A_TYPO):
        return f"{filename} defines no {name}: found {close[0]}. Rename it"
    alike = sorted(names, key=lambda candidate: -likeness(name, candidate))  # stable: else in the order of names
    more = f" and {len(names) - MAX_NAMES} more" * (len(names) > MAX_NAMES)
    defined = ", ".join(shorten(candidate, 60) for candidate in alike[:MAX_NAMES]) + more if names else "nothing"
    return f"{filename} defines no {name} (it defines {defined}){_of_another(names, exercise)}"


def _of_another(names: list[str], exercise: str) -> str:
    """What to say of a file that defines nothing this exercise asks for, but what another one does; "" otherwise."""
    if not exercise or set(names) & set(stubs.asked(exercise)):
        return ""
    others = stubs.exercises_of(names)
    return f". These are names of exercise {others[0]}: is this the file that you meant?" if others else ""


def not_started(folder: str, submission: Submission) -> str:
    """The message on a submission in which nothing was begun. For the stub itself it says which file to open."""
    if syntax.is_notebook(submission.source):
        return "not started yet: replace `raise NotImplementedError` in the cells above and run them"
    stub = paths.shown(paths.stub(folder))
    if submission.filename == stub:
        return f"not started yet: open {stub}"
    return f"not started yet: write your code in place of each `raise NotImplementedError` in {submission.filename}"


def _caret(kind: str, code: str, line: int, source: str) -> list[str]:
    """The line below the code of a syntax error, with a caret below what is wrong."""
    columns = caret(source, line) if kind in ("SyntaxError", "IndentationError") else []
    if not columns:
        return []
    text = source.splitlines()[line - 1] if line <= len(source.splitlines()) else ""
    indent = len(text) - len(text.lstrip())
    first, end = (min(column - indent, len(code)) for column in columns)
    return [f"    {' ' * max(first, 0)}{'^' * max(end - first, 1)}"] if first >= 0 else []


def _names(arguments: Iterable[str]) -> list[str]:
    """The names without defaults, of those that may be given without a name."""
    names = [argument.partition("=")[0] for argument in arguments]
    return names[: next((place for place, name in enumerate(names) if name.startswith("*")), None)]


def _builtin_given(head: str, facts: dict[str, Any]) -> str:
    """The name of Python's own function that the line uses as a value, as `input` for `inputs`; "" where none is."""
    code = str(((facts.get("frames") or [[0, "", ""]])[-1] + ["", "", ""])[2])
    is_replaced = "not function" in head  # where the worker runs, input ends the call and is a function of ours
    if "builtin_function_or_method" not in head and not is_replaced:
        return ""
    names = re.findall(r"(?<![\w.])([a-z]+)\b(?!\s*[(\w=])", code)
    builtin_names = [name for name in names if isinstance(getattr(builtins, name, None), type(len))]
    if is_replaced:
        builtin_names = [name for name in builtin_names if name == "input"]
    return builtin_names[0] if len(set(builtin_names)) == 1 else ""


def _one_is_the_other_longer(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return first != second and (longer.startswith(shorter) or longer.endswith(shorter))
