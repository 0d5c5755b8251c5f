"""What the heads of trained.pt do: the numbers of the lesson.

    python exercises/15_induction_heads/measure_heads.py your_file.py

The file is any that has the functions of this exercise: your own, once you have written them.
"""

import runpy
import sys
from pathlib import Path

import torch

BATCH, PERIOD, VOCABULARY, SEED = 8, 16, 32, 23
LAYERS, HEADS = 2, 4


def table(numbers: torch.Tensor) -> str:
    """A row for each layer."""
    return "\n".join("    " + "  ".join(f"{number:.4f}" for number in row) for row in numbers.tolist())


def measure(mine: dict, model: torch.nn.Module) -> None:
    ids = mine["repeated_tokens"](BATCH, PERIOD, VOCABULARY, torch.Generator().manual_seed(SEED))
    weights = mine["all_attention_weights"](model, ids)
    print(f"{BATCH} sequences, period {PERIOD}, as in the tasks")
    print(f"loss of the second half {mine['second_half_loss'](model, ids):.4f}")
    print(f"previous-token scores\n{table(mine['previous_token_score'](weights).mean(dim=1))}")
    print(f"induction scores\n{table(mine['induction_score'](weights, PERIOD).mean(dim=1))}")
    without = torch.empty(LAYERS, HEADS)
    for layer in range(LAYERS):
        for head in range(HEADS):
            losses = mine["next_token_loss"](mine["without_head"](model, ids, layer, head), ids)
            without[layer, head] = losses[:, PERIOD:].mean()
    print(f"loss without each head\n{table(without)}")


def main(file: str) -> None:
    mine = runpy.run_path(file)
    model = mine["AttentionOnlyTransformer"](VOCABULARY, 64, 64, LAYERS, HEADS)
    path = Path(__file__).resolve().with_name("trained.pt")
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)  # your own buffers are not in it
    with torch.no_grad():
        measure(mine, model)


if __name__ == "__main__":
    main(sys.argv[1])
