"""The figure: the second document's random sequence, whose weights have keys as rows and are not scaled."""

import torch

from grader.authors import Figure, Start, manual_seed


def data(documented):
    """Queries and keys (8, 16) of the sequence, after all that the document draws before them."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2))
    x = torch.randn(1, 8, 32)[0]
    key, query = torch.nn.Linear(32, 16), torch.nn.Linear(32, 16)
    return {"queries": query(x), "keys": key(x)}


FIGURE = Figure("The weights of a causal head whose rows are keys.", data, {"weights": Start("causal_weights")})
