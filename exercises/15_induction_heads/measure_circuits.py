"""How the heads of trained.pt work together: "Go further" in the lesson, and the table of the solution's notice.

    make experiment EX=15 ARGS=circuits

Three questions. Does the induction head copy (its OV circuit)? Does it look for what the previous-token head wrote (its
QK circuit)? And does layer 1 need the heads of layer 0 for its queries, or for its keys?
"""

from pathlib import Path

import torch
from torch.nn import functional as F

STATE = torch.load(Path(__file__).resolve().with_name("trained.pt"), weights_only=True)
LOOKS_BACK, TWO_BACK, COMPLETES = 1, 3, 0  # two heads of layer 0, and the induction head of layer 1
HEADS, SIZE, VOCABULARY, BATCH, PERIOD, SEED = 4, 16, 32, 1024, 16, 23
INPUTS = ("W_query", "W_key", "W_value")
EMBEDDING, UNEMBEDDING = STATE["token_embedding.weight"], STATE["unembedding.weight"]  # each (VOCABULARY, 64)


def slice_of(layer: int, head: int, name: str) -> torch.Tensor:
    """A head's rows of W_query, W_key or W_value, or its columns of out_proj turned: (SIZE, 64)."""
    matrix = STATE[f"layers.{layer}.{name}.weight"]
    part = slice(head * SIZE, (head + 1) * SIZE)
    return matrix[:, part].T if name == "out_proj" else matrix[part]


def written(layer: int, head: int, x: torch.Tensor) -> torch.Tensor:
    """What a head adds to the stream where it looks at x with the weight 1."""
    return x @ slice_of(layer, head, "W_value").T @ slice_of(layer, head, "out_proj")


def on_the_diagonal(table: torch.Tensor) -> int:
    """In how many rows the largest number is on the diagonal."""
    return int((table.argmax(dim=1) == torch.arange(len(table))).sum())


def votes(head: int) -> torch.Tensor:
    """OV: row s, column t is the logit that a head of layer 1 adds to token t when it looks at token s."""
    return written(1, head, EMBEDDING) @ UNEMBEDDING.T


def matches(head: int, before: int | None) -> torch.Tensor:
    """QK: the score of query token q (row) with the key of a place where `before` of layer 0 read token k (column).

    before: a head of layer 0, or None for the key of token k itself.
    """
    read = EMBEDDING if before is None else written(0, before, EMBEDDING)
    return (EMBEDDING @ slice_of(1, head, "W_query").T) @ (read @ slice_of(1, head, "W_key").T).T / SIZE**0.5


def attended(layer: int, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """What each head of a layer adds to the stream, (B, HEADS, T, 64), where its three inputs may differ."""
    parts = (F.linear(inputs[name], STATE[f"layers.{layer}.{name}.weight"]) for name in INPUTS)
    queries, keys, values = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
    mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)  # (B, HEADS, T, SIZE)
    return mixed @ STATE[f"layers.{layer}.out_proj.weight"].T.unflatten(0, (HEADS, -1))


def losses_without(head: int | None, inputs: tuple[str, ...]) -> tuple[float, float]:
    """The loss where these inputs of layer 1 are made without one head of layer 0.

    Of the second half but its first token: after tokens that occur once in the period, and after the others.
    """
    half = torch.randint(VOCABULARY, (BATCH, PERIOD), generator=torch.Generator().manual_seed(SEED))
    tokens = half.repeat(1, 2)
    x = EMBEDDING[tokens] + STATE["position_embedding.weight"][: tokens.shape[1]]
    parts = attended(0, dict.fromkeys(INPUTS, x))
    x = x + parts.sum(dim=1)
    without = x if head is None else x - parts[:, head]
    x = x + attended(1, {name: without if name in inputs else x for name in INPUTS}).sum(dim=1)
    logits = x @ UNEMBEDDING.T
    losses = F.cross_entropy(logits[:, PERIOD:-1].mT, tokens[:, PERIOD + 1 :], reduction="none")  # (B, PERIOD - 1)
    once = (half[:, :-1, None] == half[:, None]).sum(dim=-1) == 1
    return float(losses[once].mean()), float(losses[~once].mean())


def main() -> None:
    print(f"of {VOCABULARY} tokens, how many have the largest number on the diagonal?")
    print(f"    (1, 0) votes for the token it looks at        {on_the_diagonal(votes(COMPLETES)):2}")
    print(f"    (1, 0) matches what (0, 1) wrote              {on_the_diagonal(matches(COMPLETES, LOOKS_BACK)):2}")
    print(f"    (1, 0) matches the token itself               {on_the_diagonal(matches(COMPLETES, None)):2}")
    print("loss after a token that occurs      once    more often")
    print_losses("nothing missing", None, ())
    for head in (LOOKS_BACK, TWO_BACK):
        print_losses(f"queries without (0, {head})", head, ("W_query",))
        print_losses(f"keys without (0, {head})", head, ("W_key",))


def print_losses(name: str, head: int | None, inputs: tuple[str, ...]) -> None:
    once, others = losses_without(head, inputs)
    print(f"    {name:28}  {once:.3f}   {others:.3f}")


if __name__ == "__main__":
    with torch.no_grad():
        main()
