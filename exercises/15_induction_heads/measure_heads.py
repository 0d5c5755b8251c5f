"""What the heads of trained.pt do: the numbers of the lesson.

    python exercises/15_induction_heads/measure_heads.py your_file.py

The file is any that has the functions of this exercise: your own, once you have written them. The tasks look at 8
sequences, few enough to print. Losses of so few differ from draw to draw, so periods are compared on 1,024.
"""

import runpy
import sys
from pathlib import Path

import torch

FEW, MANY, SEED = 8, 1024, 23
PERIODS, SHOWN, VOCABULARY = (4, 8, 16, 32), 16, 32
LAYERS, HEADS, TWO_BACK = 2, 4, (0, 3)  # layer and head


def table(numbers: torch.Tensor) -> str:
    """A row for each layer."""
    return "\n".join("    " + "  ".join(f"{number:.4f}" for number in row) for row in numbers.tolist())


def drawn(mine: dict, batch: int, period: int) -> torch.Tensor:
    return mine["repeated_tokens"](batch, period, VOCABULARY, torch.Generator().manual_seed(SEED))


def is_once(ids: torch.Tensor, period: int) -> torch.Tensor:
    """Where the token before a prediction of the second half occurs once in the period, (B, period - 1)."""
    return (ids[:, : period - 1, None] == ids[:, None, :period]).sum(dim=-1) == 1


def of_the_tasks(mine: dict, model: torch.nn.Module) -> None:
    ids = drawn(mine, FEW, SHOWN)
    weights = mine["all_attention_weights"](model, ids)
    print(f"{FEW} sequences, period {SHOWN}, as in the tasks")
    print(f"loss of the second half {mine['second_half_loss'](model, ids):.4f}")
    print(f"previous-token scores\n{table(mine['previous_token_score'](weights).mean(dim=1))}")
    print(f"induction scores\n{table(mine['induction_score'](weights, SHOWN).mean(dim=1))}")
    without = torch.empty(LAYERS, HEADS)
    for layer in range(LAYERS):
        for head in range(HEADS):
            losses = mine["next_token_loss"](mine["without_head"](model, ids, layer, head), ids)
            without[layer, head] = losses[:, SHOWN:].mean()
    print(f"loss without each head\n{table(without)}")


def of_each_period(mine: dict, model: torch.nn.Module) -> None:
    print("          loss, second half     loss,")
    print("period    all     where clear   first half   head     score    next head")
    for period in PERIODS:
        ids = drawn(mine, MANY, period)
        losses = mine["next_token_loss"](model(ids), ids)
        second, once = losses[:, period:], is_once(ids, period)
        scores = mine["induction_score"](mine["all_attention_weights"](model, ids), period).mean(dim=1)
        best, following = scores.flatten().sort(descending=True).values[:2].tolist()
        loss = f"{second.mean():.4f}   {second[once].mean():.4f}        {losses[:, : period - 1].mean():7.4f}"
        found = mine["find_induction_head"](model, ids)
        print(f"{period:6}    {loss}      {found}   {best:.4f}   {following:.4f}")


def of_the_head_that_looks_two_back(mine: dict, model: torch.nn.Module) -> None:
    ids = drawn(mine, MANY, SHOWN)
    weights = mine["all_attention_weights"](model, ids)[TWO_BACK[0], :, TWO_BACK[1]]
    print(f"head {TWO_BACK}, weight on itself and 1, 2, 3 tokens back")
    print("    " + "  ".join(f"{weights.diagonal(-back, dim1=-2, dim2=-1).mean():.3f}" for back in range(4)))
    once = is_once(ids, SHOWN)
    print(f"loss at period {SHOWN} after a token that occurs    once    more often")
    for name, logits in (("all heads", model(ids)), ("without it", mine["without_head"](model, ids, *TWO_BACK))):
        losses = mine["next_token_loss"](logits, ids)[:, SHOWN:]
        print(f"    {name:41} {losses[once].mean():.3f}    {losses[~once].mean():.3f}")


def main(file: str) -> None:
    mine = runpy.run_path(file)
    model = mine["AttentionOnlyTransformer"](VOCABULARY, 64, 64, LAYERS, HEADS)
    path = Path(__file__).resolve().with_name("trained.pt")
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)  # your own buffers are not in it
    with torch.no_grad():
        of_the_tasks(mine, model)
        of_each_period(mine, model)
        of_the_head_that_looks_two_back(mine, model)


if __name__ == "__main__":
    main(sys.argv[1])
