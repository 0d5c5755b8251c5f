"""The figure: standard normal queries and keys, whose variances a source document prints for d_k = 16."""

import torch

from grader.authors import Figure, Start, manual_seed, pack

TOKENS, D_K, WIDTH = 8, 16, 512


def drawn():
    """Queries and keys (8, 512). The first 16 are the document's, after all that it draws before them."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2)), torch.randn(1, 8, 32)
    for _ in ("key", "query", "value"):
        torch.nn.Linear(32, D_K)
    torch.nn.Linear(D_K, 32)
    keys, queries = torch.randn(1, TOKENS, D_K)[0], torch.randn(1, TOKENS, D_K)[0]
    keys, queries = (torch.cat([one, torch.randn(TOKENS, WIDTH - D_K)], dim=1) for one in (keys, queries))
    return queries, keys


def data(documented):
    """Queries and keys of 512 dimensions."""
    queries, keys = drawn()
    return {"queries": pack(queries), "keys": pack(keys), "tokens": TOKENS, "width": WIDTH, "start": D_K}


FIGURE = Figure(
    "Scores with and without the scale, and the weights that they give.",
    data,
    {
        "variance, raw": Start("variance_of_wei"),
        "variance, scaled": Start("variance_of_scaled_wei"),
    },
)
