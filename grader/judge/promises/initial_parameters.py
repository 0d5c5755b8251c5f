"""Promises on the parameters of a module: their names, their shapes, and the numbers that the seed draws."""

import torch

from grader.judge.compare import expect, expect_shape, same
from grader.judge.mismatch import Mismatch
from grader.judge.promises.targets import demand_object
from grader.judge.proxy import Module
from grader.judge.renaming import ends, names_sentence


def has_parameters(module: Module, expected: dict[str, tuple[int, ...]], named: bool = True) -> None:
    """The module's parameters have these names and shapes, all are trainable, and there are no others.

    named: whether other names are refused where nothing else differs.
    """
    demand_object(module, Module)
    facts = module.describe()
    shapes = {name: tuple(value.shape) for name, value in facts["parameters"].items()}
    missing = [name for name in expected if name not in shapes]
    surplus = [name for name in shapes if name not in expected]
    if missing and surplus and (names := module.renamed(expected)):
        if named:
            raise Mismatch(names_sentence(names))
        return has_parameters(module, expected)  # the proxy uses the lesson's names from now on
    if missing or surplus:
        counts = [f"{', '.join(missing)} missing"] if missing else []
        counts += [f"{len(surplus)} too many"] if surplus else []
        summary = f"{module.class_name} has other parameters than asked for: {'; '.join(counts)}"
        raise Mismatch(summary, f"too many: {', '.join(surplus)}"[:300] if surplus else "", ends(surplus))
    for name, shape in expected.items():
        expect(shapes[name], tuple(shape), f"the parameter {name}")
    for name in expected:
        if name in facts["frozen"]:
            raise Mismatch(f"the parameter {name} is not trainable (requires_grad=False)")


def expect_drawn(module: Module, expected: dict[str, torch.Tensor]) -> None:
    """The parameters hold the numbers that the seed gives in the order of `expected`.

    The message says which parameter holds the numbers of another one: the usual sign of another order of creation.
    """
    demand_object(module, Module)
    parameters = module.parameters(expected)
    for name, expected_value in expected.items():
        if name not in parameters:
            details = f"it has:  {', '.join(parameters) or 'none'}"[:300]
            raise Mismatch(f"{module.class_name} has no parameter called {name}", details)
        expect_shape(parameters[name], tuple(expected_value.shape), f"the parameter {name}")
    for name, expected_value in expected.items():
        got = parameters[name]
        equal_name = next(
            (n for n in expected if n != name and expected_value.numel() > 1 and torch.equal(parameters[n], got)), None
        )
        if equal_name:
            raise Mismatch(f"{name} and {equal_name} hold the same numbers: draw each parameter anew")
        if same(got, expected_value):
            continue
        for other_name, numbers in expected.items():
            if other_name != name and same(got, numbers):
                order = ", ".join(expected)
                raise Mismatch(
                    f"{name} holds the numbers that the seed gives to {other_name}: "
                    f"the parameters are created in another order than {order}"
                )
        expect(got, expected_value, f"the parameter {name}, right after the seed,")
