"""What is said of a function or class that takes other arguments than the lesson's, or takes them in another order."""

import ast
import re
from collections.abc import Sequence

from grader.catalog import signatures
from grader.catalog.signatures import Arguments
from grader.judge.failure import Failure
from grader.records.source import SourceWords
from grader.sandbox.call_results import Call, LearnerError

ROLES = {  # words by which people call the same argument
    "heads": re.compile(r"(n|nb|num|number_?of)?_?(attn_?|attention_?)?heads?"),
    "dropout": re.compile(r"(attn_?|attention_?)?drop(out)?(_?(p|prob|rate))?"),
    "length": re.compile(r"(max_?)?(context|ctx|seq|sequence)_?(len|length|size)|block_?size|max_?len(gth)?"),
    "bias": re.compile(r"(qkv_?|use_?)*bias"),
}
ORDER = (
    "{name} takes {argument} as argument {own_place}, and in the lesson that is argument {place}. "
    "The lesson's order is {order}."
)
LACKS = (
    "{name} has no argument {lacking}, so those behind it have other places than in the lesson. "
    "The lesson's order is {order}."
)
HAS_MORE = (
    "{name} has an argument {extra} that the lesson does not have, so those behind it have other places. "
    "The lesson's order is {order}."
)
OF_ANOTHER = re.compile(r"was raised; expected \w+$|the lesson calls (it|them) ")  # which no default brings about
SLIPS = ("NameError", "AttributeError", "ImportError", "ModuleNotFoundError")  # which no argument brings about
NO_MODULE = "is not a torch.nn.Module"
DEFAULT = "{own} is {value} where {name} is called without it. In the lesson {other} is {lesson_value}."


def sentence(failure: Failure, words: SourceWords, exercise: str, known: Sequence[SourceWords] = ()) -> str | None:
    """The sentence on an argument that has another place or default than in the lesson, as a call of the check used it.

    None where there is none, and where a known mistake with the same answers takes its arguments otherwise too: it
    says more. known: the words of these.
    """
    kind = failure.error.facts.get("type") if isinstance(failure.error, LearnerError) else None
    if kind in SLIPS or str(failure.error).startswith(f"{failure.last_called} {NO_MODULE}"):
        return None
    for call in failure.calls:
        name = call.function
        lesson, own = signatures.names(exercise).get(name), words.arguments(name)
        told = _difference(call, own, lesson, failure) if lesson and own and own != lesson else None
        if told and lesson and not any(_is_other(one.arguments(name), lesson) for one in known):
            return told
    return None


def in_the_lesson(name: str, exercise: str) -> list[str]:
    """The line with a function or class and its arguments as the lesson has them; none where that is not known."""
    arguments = signatures.names(exercise).get(name) if exercise else None
    return [] if arguments is None else [f"lesson   {name}({', '.join(arguments)})"]


def differ(own: Arguments | None, lesson: Arguments) -> bool:
    """Whether the names of the arguments are others than the lesson's."""
    return own is not None and _names(own)[: len(lesson)] != _names(lesson)


def find_misplaced(own: Arguments, lesson: Arguments) -> tuple[str, int, int] | None:
    """The first argument of the lesson's that has another place, counted from 0: its own name, its place, the lesson's.

    None where there is none, or where it cannot be told which argument is which.
    """
    own_roles, roles = _roles(own), _roles(lesson)
    for place, role in enumerate(own_roles):
        if roles.count(role) == own_roles.count(role) == 1 and roles.index(role) != place:
            return _names(own)[place], place, roles.index(role)
    return None


def count_arguments(outline: str) -> tuple[int, list[str]]:
    """How many arguments the first call of an outline gives without a name, and the names of the others.

    (2, ["dim"]) for "f(tensor (2, 3), 4, dim=1)(5)".
    """
    start = outline.find("(") + 1
    depth, given = 0, [""]
    for sign in outline[start:] if start else "":
        if sign == ")" and not depth:
            break
        depth += (sign in "([{") - (sign in ")]}")
        given = [*given, ""] if sign == "," and not depth else [*given[:-1], given[-1] + sign]
    matches = [re.match(r"\s*(\w+)=", one) for one in given if one.strip()]
    return matches.count(None), [match[1] for match in matches if match]


def _difference(call: Call, own: Arguments, lesson: Arguments, failure: Failure) -> str | None:
    """The sentence on the first difference that matters to this call."""
    given, named = count_arguments(call.outline)
    found = find_misplaced(own, lesson)
    if found and given > min(found[1:]):
        return _on_places(call.function, own, lesson, found)
    if OF_ANOTHER.search(str(failure.error)):
        return None
    for place, (own_one, lesson_one) in enumerate(zip(own, lesson, strict=False)):
        is_same = _role(own_one) == _role(lesson_one) or (len(own) == len(lesson) and not found)
        if place >= given and is_same and _other_default(own_one, lesson_one, named):
            (own_name, _, value), (other, _, lesson_value) = own_one.partition("="), lesson_one.partition("=")
            other = "it" if other == own_name else other
            return DEFAULT.format(own=own_name, value=value, name=call.function, other=other, lesson_value=lesson_value)
    return None


def _on_places(name: str, own: Arguments, lesson: Arguments, found: tuple[str, int, int]) -> str:
    """The sentence on an argument that has another place: on one too few or too many, where that is why."""
    argument, own_place, place = found
    own_roles, roles = _roles(own), _roles(lesson)
    order = ", ".join(lesson)
    if own_place + 1 == place and own_roles[own_place:] == roles[place:][: len(own_roles) - own_place]:
        lacking = _names(lesson)[own_place]
        if roles[own_place] not in own_roles:
            return LACKS.format(name=name, lacking=lacking, order=order)
    if own_place == place + 1 and own_roles[place] not in roles:
        return HAS_MORE.format(name=name, extra=_names(own)[place], order=order)
    return ORDER.format(name=name, argument=argument, own_place=own_place + 1, place=place + 1, order=order)


def _is_other(arguments: Arguments | None, lesson: Arguments) -> bool:
    """Whether the arguments of a known mistake are not the lesson's."""
    return arguments is not None and arguments != lesson


def _other_default(own: str, lesson: str, named: list[str]) -> bool:
    """Whether the defaults of an argument differ, and the call gives no value for it by its name.

    Another float may matter little, as a smaller eps.
    """
    (own_name, _, own_value), (name, _, value) = own.partition("="), lesson.partition("=")
    if not own_value or not value or {own_name, name} & {*named}:
        return False
    try:
        pair = ast.literal_eval(own_value), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return False
    return pair[0] != pair[1] and float not in map(type, pair)


def _roles(arguments: Arguments) -> list[str]:
    return [_role(name) for name in _names(arguments)]


def _names(arguments: Arguments) -> list[str]:
    """The names without defaults, of those that may be given without a name."""
    names = [argument.partition("=")[0] for argument in arguments]
    return names[: next((place for place, name in enumerate(names) if name.startswith("*")), None)]


def _role(argument: str) -> str:
    name = argument.partition("=")[0]
    found = next((role for role, pattern in ROLES.items() if pattern.fullmatch(name.lower())), None)
    return found or name.lower().replace("_", "").rstrip("s")
