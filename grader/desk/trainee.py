"""What the train.py of all proofs share. It runs in the worker, after the learner's source, and needs only torch."""

import copy
from typing import Any

import torch
from torch.nn import functional as F

RATE = 3e-3  # of Adam
FRESH_SEED = 23  # of the sequences that are judged, never those that are trained on


class Reader(torch.nn.Module):
    """Embeddings with positions, one layer of attention beside them, and a linear layer that names the next token."""

    def __init__(self, attention: torch.nn.Module, tokens: int, places: int, size: int):
        super().__init__()
        self.token_embedding = torch.nn.Embedding(tokens, size)
        self.position_embedding = torch.nn.Embedding(places, size)
        self.attention, self.unembedding = attention, torch.nn.Linear(size, tokens)

    def embed(self, token_ids: torch.Tensor, first: int = 0) -> torch.Tensor:
        """Tokens with their positions, counted from `first`: (B, T, size)."""
        return self.token_embedding(token_ids) + self.position_embedding.weight[first : first + token_ids.shape[1]]

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """The logits, (B, T, tokens)."""
        x = self.embed(token_ids)
        return self.unembedding(x + self.attention(x))


class Backwards:
    """Up to MOST digits, right-aligned before a separator, then the same digits backwards, then blanks.

    Trains a model and its twin side by side: the same numbers at the start, the same sequences.
    """

    MOST, SEPARATOR, BLANK = 8, 10, 11
    TOKENS, PLACES, BATCH = 12, 2 * 8 + 1, 128
    HEADS = 1  # of the layers
    WORDS = (  # the RUNS, COLUMNS, TASK, PICTURE and WHY of a train.py
        ("your class", "its twin without a mask"),
        ("1", "2", "3", "4", "5", "6", "7", "8"),
        "Write up to 8 digits backwards. Percent written without an error, by length:",
        "what your class looks at: a row for each place that it writes, a column for each digit",
        "Both losses fall to zero, but only your class can write. While the twin trains, the answer is already on the "
        "sheet, one place further on, and without a mask it may simply look there. When it writes, that place is still "
        "blank. There is nothing to copy, so what it learned is of no use. The mask blocks that way out, so your class "
        "had to find each digit where it still is when you write: before the separator, in the mirrored place.",
    )

    def __init__(self, attention: torch.nn.Module, twin: torch.nn.Module, size: int, seed: int):
        self.generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)
        model = Reader(attention, self.TOKENS, self.PLACES, size)
        other = copy.deepcopy(model)
        other.attention = twin
        self.models = [model, other]
        self.optimizers = [torch.optim.Adam(one.parameters(), RATE) for one in self.models]
        self.losses = [float("nan")] * 2

    def sequences(self, lengths: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Random sequences with so many digits each: (B, PLACES)."""
        digits = torch.randint(0, 10, (len(lengths), self.MOST), generator=generator)
        place, lengths = torch.arange(self.MOST), lengths[:, None]
        forwards = torch.where(place >= self.MOST - lengths, digits, self.BLANK)
        backwards = torch.where(place < lengths, digits.flip(1), self.BLANK)
        return torch.cat([forwards, torch.full((len(digits), 1), self.SEPARATOR), backwards], dim=1)

    def advance(self, steps: int) -> None:
        """Train both so many steps."""
        for _ in range(steps):
            lengths = torch.randint(1, self.MOST + 1, (self.BATCH,), generator=self.generator)
            token_ids = self.sequences(lengths, self.generator)
            for number, (model, optimizer) in enumerate(zip(self.models, self.optimizers)):
                logits = model(token_ids)[:, self.MOST : -1]  # from the separator on
                loss = F.cross_entropy(logits.flatten(0, 1), token_ids[:, self.MOST + 1 :].flatten())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self.losses[number] = float(loss.detach())

    def write(self, model: torch.nn.Module, token_ids: torch.Tensor) -> torch.Tensor:
        """What the model writes after the separator, token by token, on a sheet that is blank there: (B, MOST)."""
        sheet = token_ids.clone()
        sheet[:, self.MOST + 1 :] = self.BLANK
        for place in range(self.MOST, 2 * self.MOST):
            sheet[:, place + 1] = model(sheet)[:, place].argmax(dim=-1)
        return sheet[:, self.MOST + 1 :]

    def look(self) -> dict:
        """The losses, the share of new sequences written without an error by length, and the model's attention."""
        lengths = torch.arange(1, self.MOST + 1).repeat_interleave(25)
        token_ids = self.sequences(lengths, torch.Generator().manual_seed(FRESH_SEED))
        with torch.no_grad():
            right = [
                (self.write(model, token_ids) == token_ids[:, self.MOST + 1 :]).all(dim=1) for model in self.models
            ]
            shares = torch.stack([of_model.view(self.MOST, -1).double().mean(dim=1) for of_model in right])
            x = self.models[0].embed(token_ids[-1:])
            seen = attention_weights(self.models[0].attention, x, self.HEADS).mean(dim=0)  # (PLACES, PLACES)
        return {"loss": torch.tensor(self.losses), "right": shares, "weights": seen[self.MOST : -1, : self.MOST]}


def attention_weights(layer: Any, x: torch.Tensor, heads: int = 1) -> torch.Tensor:
    """The weights of a layer that gives context vectors alone, (heads, T, T), for tokens x, (1, T, d_in), T <= d_in.

    A copy of the layer gets a W_value that turns these tokens into one-hot values, so that it gives its weights.
    """
    tokens, layer = x.shape[1], copy.deepcopy(layer)
    size = layer.W_value.weight.shape[0] // heads
    if hasattr(layer, "out_proj"):
        layer.out_proj.weight.copy_(torch.eye(heads * size))
        layer.out_proj.bias.zero_()
    columns = []
    for first in range(0, tokens, size):  # as many keys at once as a value has numbers
        values = torch.eye(tokens, tokens + size)[:, first : first + size].repeat(1, heads)  # (T, heads * size)
        layer.W_value.weight.copy_(torch.linalg.lstsq(x[0], values).solution.T)
        columns.append(layer(x)[0].unflatten(-1, (heads, size)).transpose(0, 1))  # (heads, T, size)
    return torch.cat(columns, dim=-1)[..., :tokens]
