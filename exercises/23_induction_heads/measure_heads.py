"""What the heads of trained.pt do: the numbers of the lesson.

    python exercises/23_induction_heads/measure_heads.py your_file.py

The file is any that has the functions of this exercise: your own, once you have written them.
"""

import runpy
import sys
from pathlib import Path

import torch

BATCH, SEED = 8, 23
PERIODS = (4, 8, 16, 32)


def table(numbers: torch.Tensor) -> str:
    """A row for each layer."""
    return "\n".join("    " + "  ".join(f"{number:.4f}" for number in row) for row in numbers.tolist())


def main(file: str) -> None:
    mine = runpy.run_path(file)
    model = mine["AttentionOnlyTransformer"](32, 64, 64, 2, 4)
    path = Path(sys.argv[0]).resolve().with_name("trained.pt")
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)  # your own buffers are not in it
    period_of = {}
    with torch.no_grad():
        print("period   loss     induction head   its score   the next head's")
        for period in PERIODS:
            ids = mine["repeated_tokens"](BATCH, period, 32, torch.Generator().manual_seed(SEED))
            period_of[period] = ids
            scores = mine["induction_score"](mine["all_attention_weights"](model, ids), period).mean(dim=1)
            best, second = scores.flatten().sort(descending=True).values[:2].tolist()
            loss = float(mine["second_half_loss"](model, ids))
            print(f"{period:6}   {loss:.4f}   {mine['find_induction_head'](model, ids)}   {best:14.4f}   {second:9.4f}")
        ids = period_of[16]
        weights = mine["all_attention_weights"](model, ids)
        print(f"previous-token scores at period 16\n{table(mine['previous_token_score'](weights).mean(dim=1))}")
        print(f"induction scores at period 16\n{table(mine['induction_score'](weights, 16).mean(dim=1))}")
        print("loss at period 16 without each head")
        without = torch.empty(2, 4)
        for layer in range(2):
            for head in range(4):
                losses = mine["next_token_loss"](mine["without_head"](model, ids, layer, head), ids)
                without[layer, head] = losses[:, 16:].mean()
        print(table(without))


if __name__ == "__main__":
    main(sys.argv[1])
