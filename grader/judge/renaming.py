"""Maps the parameters of a learner's layer to those of the lesson, where nothing but the names differs.

Names are mapped one to one, layer by layer, by shape, by the words in them, and by their order. What is left open then,
behaviour decides: `agrees` in promises/answers.py tries the other maps.
"""

import itertools
import re
from collections.abc import Iterable
from typing import Any

ROLES = {  # words by which people call the same thing
    "query": re.compile(r"quer|(?<![a-z])w?qs?(?![a-z])"),
    "key": re.compile(r"key|(?<![a-z])w?ks?(?![a-z])"),
    "value": re.compile(r"val|(?<![a-z])w?vs?(?![a-z])"),
    "out": re.compile(r"out|(?<![a-z])w?o(?![a-z])"),
}
MAX_MAPS = 24
Shape = tuple[int, ...]


def maps(expected: dict[str, Shape], actual: dict[str, Shape]) -> list[dict[str, str]]:
    """The one-to-one maps from the lesson's names to the learner's, the likeliest first; none where none fits.

    expected, held: shapes by name, in the order of creation.
    """
    for numbered in (False, True):  # first heads.0 and heads.1 alike, then each number for itself
        lesson_layers, own_layers = _layers(expected, numbered), _layers(actual, numbered)
        shared = [layer for layer in lesson_layers if own_layers.get(layer) == lesson_layers[layer]]
        lesson_rest = [layer for layer in lesson_layers if layer not in shared]
        own_rest = [layer for layer in own_layers if layer not in shared]
        if sorted(lesson_layers[layer] for layer in lesson_rest) == sorted(own_layers[layer] for layer in own_rest):
            break
    else:
        return []
    kinds = sorted({lesson_layers[layer] for layer in lesson_rest})
    groups = [[layer for layer in lesson_rest if lesson_layers[layer] == kind] for kind in kinds]
    orders = [itertools.permutations([layer for layer in own_rest if own_layers[layer] == kind]) for kind in kinds]
    pairs = [list(zip(itertools.chain(*groups), itertools.chain(*order))) for order in itertools.product(*orders)]
    pairs.sort(key=lambda renamed: -_alike(renamed))  # stable: of equals, the one in order comes first
    certain = bool(pairs) and _alike(pairs[0]) == len(lesson_rest)
    layers = [dict(renamed) | {layer: layer for layer in shared} for renamed in pairs[: 1 if certain else MAX_MAPS]]
    return [_by_name(renamed, expected, actual, numbered) for renamed in layers]


def names_sentence(names: dict[str, str]) -> str:
    """The sentence on names that are not the lesson's. names: the lesson's → the learner's."""
    differing: dict[str, str] = {}
    for lesson, own_name in names.items():
        if lesson != own_name and not any(_template(lesson) == _template(counted) for counted in differing):
            differing[lesson] = own_name
    pairs = {_layer(lesson)[0]: _layer(own_name)[0] for lesson, own_name in differing.items()}
    lessons, owns = ", ".join(pairs), ", ".join(pairs.values())
    if len(pairs) == 1:
        return f"a parameter is called {owns}: the lesson calls it {lessons}"
    return f"the parameters are called {owns}: the lesson calls them {lessons}"


def ends(names: Iterable[str]) -> frozenset[str]:
    """The last parts of these names: "weight", "bias", or "" for a parameter of the module itself."""
    return frozenset(_layer(name)[1] for name in names)


def _layers(shapes: dict[str, Shape], numbered: bool) -> dict[str, tuple[Any, ...]]:
    """Layers by name, each with the ends and shapes of its parameters. Not numbered: those alike are one."""
    ends_by_layer: dict[str, list[Any]] = {}
    for name, shape in shapes.items():
        layer, end = _layer(name)
        ends_by_layer.setdefault(layer if numbered else _template(layer), []).append((end, tuple(shape)))
    return {layer: tuple(sorted(parts)) for layer, parts in ends_by_layer.items()}


def _by_name(
    layers: dict[str, str], expected: dict[str, Shape], actual: dict[str, Shape], numbered: bool
) -> dict[str, str]:
    """The map of layers as a map of parameters: the numbers of a layer follow its own order."""
    waiting: dict[tuple[str, str], list[str]] = {}
    for name in actual:
        layer, end = _layer(name)
        waiting.setdefault((layer if numbered else _template(layer), end), []).append(name)
    names = {}
    for name in expected:
        layer, end = _layer(name)
        names[name] = waiting[layers[layer if numbered else _template(layer)], end].pop(0)
    return names


def _layer(name: str) -> tuple[str, str]:
    """The name of the layer, and of the parameter in it: "W_query" and "weight"; "W_query" and "" for a parameter."""
    layer, _, end = name.rpartition(".")
    return (layer, end) if layer and end in ("weight", "bias") else (name, "")


def _template(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _alike(pairs: list[tuple[str, str]]) -> int:
    """How many pairs of names say the same."""
    roles = [(_role(lesson_name), _role(own_name)) for lesson_name, own_name in pairs]
    return sum(lesson_name is not None and lesson_name == own_name for lesson_name, own_name in roles)


def _role(name: str) -> str | None:
    snake_case = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", name).lower()
    return next((role for role, pattern in ROLES.items() if pattern.search(snake_case)), None)
