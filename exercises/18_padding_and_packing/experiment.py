"""What goes wrong if padding is not hidden, or not clean?

Sixteen sequences of 1 to 16 tokens, and one without any, are padded to 16 places, and go through one head of attention
with random numbers. Five programs treat the padding, each as people write it. A token is wrong if it differs from what
its sequence gets by itself.
"""

import torch
from torch.nn import functional as F

CLAIM = "Only padding that is hidden and set to 0 changes nothing."

PLACES, SIZE = 16, 8
LENGTHS = (0, *range(1, PLACES + 1))
# what the padding holds, where it is hidden (before the softmax, after it, both), whether it is set to 0 first
PROGRAMS = {
    "zeros, not hidden": (0.0, "no", False),
    "zeros, weights masked": (0.0, "after", False),
    "zeros, hidden with −∞": (0.0, "before", False),
    "NaN, hidden with −∞": (torch.nan, "before", False),
    "NaN, set to 0, hidden": (torch.nan, "both", True),
}


def attention(inputs: list[torch.Tensor], real: torch.Tensor, hidden: str, clean: bool) -> torch.Tensor:
    """(B, T, h) each, real (B, T), to (B, T, h)."""
    if clean:
        inputs = [x.masked_fill(~real[..., None], 0.0) for x in inputs]
    queries, keys, values = inputs
    mask = real[:, None]
    scores = queries @ keys.mT / SIZE**0.5
    if hidden == "before":
        scores = scores.masked_fill(~mask, -torch.inf)
    if hidden == "both":
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if hidden in ("after", "both"):
        weights = weights.masked_fill(~mask, 0.0)
    context = weights @ values
    return context.masked_fill(~real[..., None], 0.0) if clean else context


def measure() -> list[dict[str, float]]:
    torch.manual_seed(123)
    tokens = torch.randn(3, len(LENGTHS), PLACES, SIZE)  # queries, keys and values
    real = torch.arange(PLACES) < torch.tensor(LENGTHS)[:, None]
    alone = torch.zeros(len(LENGTHS), PLACES, SIZE)
    for row, length in enumerate(LENGTHS):
        alone[row, :length] = F.scaled_dot_product_attention(*tokens[:, None, row, :length])[0]
    rows = []
    for name, (held, hidden, clean) in PROGRAMS.items():
        inputs = [x.masked_fill(~real[..., None], held).requires_grad_() for x in tokens]
        context = attention(inputs, real, hidden, clean)
        context[real].sum().backward()  # a loss over real tokens only
        error = (context - alone)[real].detach().abs().amax(dim=-1).nan_to_num(torch.inf)
        nan = torch.stack([x.grad for x in inputs]).isnan().any(dim=-1)
        rows.append({"padding": name, "wrong": int((error > 1e-5).sum()), "gradients NaN": int(nan.sum())})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    by_name = {row["padding"]: row for row in rows}
    total = sum(LENGTHS)
    leaks = by_name["zeros, not hidden"]["wrong"] == total - PLACES  # the full sequence has no padding
    right = by_name["NaN, set to 0, hidden"]
    empty = by_name["zeros, hidden with −∞"]["gradients NaN"] == PLACES
    clean = right["wrong"] == right["gradients NaN"] == 0
    return leaks and empty and clean and by_name["NaN, hidden with −∞"]["wrong"] == total - PLACES
