"""Teaches your layer to look up a digit by its place, and answers with a cache: what `make train EX=20` runs.

One model is trained without a cache. Then it answers in three ways, which differ in the cache and the positions alone.
"""

import torch
from torch.nn import functional as F

SIZE, HEADS, DIGITS, BATCH = 64, 4, 8, 128
CHUNK = 4  # tokens of one call, where there is a cache
STEPS = 100
RUNS = ("no cache", "your cache", "your cache, positions from 0")
COLUMNS = ("1", "2", "3", "4", "5", "6", "7", "8")
TASK = "Eight digits, then questions: which was the first, the fifth …? Percent of right answers, by the place:"
PICTURE = "what your class looks at: a row for each place, a column for each digit"
WHY = (
    "It is one model, trained without a cache. With your cache it gives the same answers, four tokens at a time, since "
    "keys and values of earlier tokens never change. In the last row the cache is just as right, but the caller counts "
    "positions from 0 in each call. Then digit 5 is stored as if it were digit 1. Two digits claim the same place, and "
    "no key says “place 5” any more. So a caller must go on counting where the cache ends."
)


class OutputAlone(torch.nn.Module):
    """Exercise 20's layer without a cache, so that a model can call it with x alone."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        """The first of the two results."""
        return self.layer(x)[0]

    @property
    def W_value(self):
        """The projection that attention_weights sets."""
        return self.layer.W_value

    @property
    def out_proj(self):
        """The layer after the heads, likewise."""
        return self.layer.out_proj


class Training:
    """One model in training."""

    def __init__(self, seed: int = 0):
        torch.manual_seed(seed)
        layer = OutputAlone(CachedAttention(SIZE, SIZE, HEADS))  # the one that you wrote
        self.model = Reader(layer, 10 + DIGITS, 2 * DIGITS, SIZE)  # of grader/desk/trainee.py
        self.optimizer = torch.optim.Adam(self.model.parameters(), RATE)
        self.generator, self.loss = torch.Generator().manual_seed(seed), float("nan")

    def draw(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Digits and then every question once: (batch, 2 * DIGITS), and the place that each asks for."""
        digits = torch.randint(0, 10, (batch, DIGITS), generator=generator)
        asked = torch.rand(batch, DIGITS, generator=generator).argsort(dim=1)
        return torch.cat([digits, 10 + asked], dim=1), asked

    def advance(self, steps: int) -> None:
        """Train so many steps."""
        for _ in range(steps):
            token_ids, asked = self.draw(BATCH, self.generator)
            logits, answers = self.model(token_ids)[:, DIGITS:], token_ids.gather(1, asked)
            loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.loss = float(loss.detach())

    def answer(self, token_ids: torch.Tensor, goes_on: bool) -> torch.Tensor:
        """The logits of the questions, with the cache, CHUNK tokens in each call."""
        cache, outputs = None, []
        for start in range(0, 2 * DIGITS, CHUNK):
            x = self.model.embed(token_ids[:, start : start + CHUNK], start if goes_on else 0)
            context, cache = self.model.attention.layer(x, cache)
            outputs.append(self.model.unembedding(x + context))
        return torch.cat(outputs, dim=1)[:, DIGITS:]

    def look(self) -> dict:
        """The loss, the share of right answers to new questions in each way, and what the model looks at."""
        token_ids, asked = self.draw(200, torch.Generator().manual_seed(FRESH_SEED))
        answers, shares = token_ids.gather(1, asked), []
        with torch.no_grad():
            for logits in (
                self.model(token_ids)[:, DIGITS:],
                self.answer(token_ids, True),
                self.answer(token_ids, False),
            ):
                right = (logits.argmax(dim=-1) == answers).gather(1, asked.argsort(dim=1))
                shares.append(right.double().mean(dim=0))
            one = torch.cat([token_ids[:1, :DIGITS], 10 + torch.arange(DIGITS)[None]], dim=1)
            seen = attention_weights(self.model.attention, self.model.embed(one), HEADS).mean(dim=0)
        return {
            "loss": torch.full((len(RUNS),), self.loss),
            "right": torch.stack(shares),
            "weights": seen[DIGITS:, :DIGITS],
        }
