"""The printed numbers of the source documents, each with the weights that seed 123 gives."""

import torch

from grader.authors import Mismatch, expect, expect_shape, manual_seed, same, task
from grader.sentence import JOURNEY, inputs

DOCUMENTED_SEED = 123
NAMES = ("W_query", "W_key", "W_value")
EAT_DESSERT = torch.tensor([0, 4, 5, 2, 1, 3])  # "Life is short, eat dessert first", from exercise 04
ROWS = {"queries": (6, 2), "keys": (6, 2), "values": (6, 2)}
COLUMNS = {"queries": (6, 24), "keys": (6, 24), "values": (6, 28)}
IS = 1  # the index of the token "is", which the third document follows


@task(1)
def test_documented_weights(learner, documented):
    """The three matrices of seed 123 match the printed numbers, in this order."""
    drawn = three(learner.init_weights(3, 2, seed=DOCUMENTED_SEED), dict.fromkeys(NAMES, (3, 2)))
    own = dict(zip(NAMES, row_weights(), strict=True))
    holds = [next((name for name in NAMES if same(got, own[name])), "") for got in drawn]
    if set(holds) == set(NAMES) and holds != list(NAMES):
        raise Mismatch(
            f"the matrices are drawn or returned in another order: {', '.join(holds)}; expected {', '.join(NAMES)}"
        )
    for name, got in zip(NAMES, drawn, strict=True):
        expect(got, own[name], name)  # type and dtype too
        expect(got, documented[name], name)


@task(2)
def test_documented_query_and_key(learner, documented):
    """The query and the key of “journey” match the printed numbers."""
    queries, keys, _ = three(learner.project(inputs(), *row_weights()), ROWS)
    expect(queries[JOURNEY], documented["query_2"], "the query of “journey”")
    expect(queries[JOURNEY], documented["query_2_of_002"], "the query of “journey”")
    expect(keys[JOURNEY], documented["key_2_of_002"], "the key of “journey”")


@task(2)
def test_documented_shapes(learner, documented):
    """Six tokens of three numbers become six keys and six values of two."""
    _, keys, values = three(learner.project(inputs(), *row_weights()), ROWS)
    for suffix in ("", "_of_002"):
        expect(tuple(keys.shape), documented[f"keys_shape{suffix}"], "the shape of the keys")
        expect(tuple(values.shape), documented[f"values_shape{suffix}"], "the shape of the values")
    after = learner.project.inputs_after(inputs(), *row_weights())
    expect(tuple(after[0][0].shape), documented["inputs_shape_of_002"], "the shape of the inputs after the call")


@task(3)
def test_documented_column_keys(learner, documented):
    """The keys of “Life is short, eat dessert first” match the printed numbers."""
    _, keys, _ = three(learner.project_columns(embedded(), *column_weights()), COLUMNS)
    expect(keys[:4], documented["column_keys_rows_0_to_3"], "the first four keys")
    expect(keys[4, :1], documented["column_keys_row_4_begins"], "the beginning of the fifth key")
    digits = float(documented["column_keys_row_4_breaks_off"].value)  # 1.301, the fourth digit is not known
    if not digits - 0.00005 <= float(keys[4, 1]) <= digits + 0.00095:
        raise Mismatch("the second number of the fifth key does not begin with the printed digits 1.301")


@task(3)
def test_documented_column_shapes(learner, documented):
    """The matrices, the vectors of “is”, the keys and the values have the printed shapes."""
    queries, keys, values = three(learner.project_columns(embedded(), *column_weights()), COLUMNS)
    expect(tuple(queries[IS].shape), documented["query_2_shape"], "the shape of the query vector of “is”")
    expect(tuple(keys[IS].shape), documented["key_2_shape"], "the shape of the key vector of “is”")
    expect(tuple(values[IS].shape), documented["value_2_shape"], "the shape of the value vector of “is”")
    expect(tuple(keys.shape), documented["column_keys_shape"], "the shape of the keys")
    expect(tuple(values.shape), documented["column_values_shape"], "the shape of the values")
    expect(tuple(values.shape), documented["column_values_shape_again"], "the shape of the values")
    after = learner.project_columns.inputs_after(embedded(), *column_weights())[0]
    for name, weights in zip(("W_Q", "W_K", "W_V"), after[1:], strict=True):
        expect(tuple(weights.shape), documented[f"{name}_shape"], f"the shape of {name} after the call")


def row_weights() -> list[torch.Tensor]:
    """W_query, W_key and W_value of the first two documents: three times (3, 2)."""
    manual_seed(DOCUMENTED_SEED)
    return [torch.rand(3, 2) for _ in NAMES]


def column_weights() -> list[torch.Tensor]:
    """W_Q, W_K and W_V of the third document: (24, 16), (24, 16) and (28, 16)."""
    manual_seed(DOCUMENTED_SEED)
    return [torch.rand(size, 16) for size in (24, 24, 28)]


def embedded() -> torch.Tensor:
    """The third document's sentence in 16 dimensions, as exercise 04 gives it: (6, 16)."""
    manual_seed(DOCUMENTED_SEED)
    return torch.nn.Embedding(6, 16).weight.detach()[EAT_DESSERT]


def three(result, shapes: dict[str, tuple[int, int]]):
    """The result as three matrices. Raises Mismatch where it is anything else; their widths are asked elsewhere."""
    if isinstance(result, torch.Tensor):
        raise Mismatch(f"the result is one tensor of shape {tuple(result.shape)}; expected {', '.join(shapes)}")
    if not isinstance(result, (list, tuple)) or len(result) != 3:
        expect(result, [None] * 3, "the result")
    for (name, shape), part in zip(shapes.items(), result, strict=True):
        if not isinstance(part, torch.Tensor) or part.ndim != 2 or len(part) < shape[0]:
            expect_shape(part, shape, name)
    return result
