"""Trains a model of exercise 14 on random tokens that repeat: what `make train EX=15` runs, and what made trained.pt.

The model is any that has exercise 14's parts. It is trained a few steps at a time, so that one can look in between.
"""

import torch
from torch.nn import functional as F

MODEL = "AttentionOnlyTransformer"  # of exercise 14
VOCABULARY, SIZE, CONTEXT, HEADS = 32, 64, 64, 4  # with two layers 40,960 numbers
STEPS, SEED = 1500, 0
BATCH, SHORTEST, LONGEST = 32, 4, 32  # of the periods, each step draws one
RATE, DECAY = 3e-3, 0.01  # of AdamW
APART = 2.0  # how much it counts that heads of one layer look at the same tokens
SHOWN_BATCH, SHOWN_SEED = 64, 23  # the tokens that are looked at, never those that are trained on


def repeated(batch: int, period: int, generator: torch.Generator) -> torch.Tensor:
    """Random tokens, then the same again: (batch, 2 * period)."""
    half = torch.randint(0, VOCABULARY, (batch, period), generator=generator)
    return torch.cat([half, half], dim=1)


def weights_and_logits(model, token_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The attention weights of all layers, (num_layers, B, H, T, T), and the logits, (B, T, V)."""
    x = model.token_embedding(token_ids) + model.position_embedding.weight[: token_ids.shape[1]]
    weights = []
    for layer in model.layers:
        weights.append(layer.attention_weights(x))
        x = x + layer(x)
    return torch.stack(weights), model.unembedding(x)


def second_half(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    """The mean loss of the predictions of the second half, but for its first token."""
    period = token_ids.shape[1] // 2
    return F.cross_entropy(logits[:, period:-1].flatten(0, 1), token_ids[:, period + 1 :].flatten())


def looking_alike(weights: torch.Tensor) -> torch.Tensor:
    """How much two heads of one layer look at the same tokens, the mean over pairs (arXiv 1810.10183)."""
    heads = weights.shape[2]
    shared = weights.sum(dim=2).square().sum(dim=-1) - weights.square().sum(dim=(2, -1))  # (num_layers, B, T)
    return shared.mean() / (heads * (heads - 1))


class Training:
    """A model in training. The same model, seed and steps give the same numbers on one machine."""

    def __init__(self, model, seed: int = SEED):
        self.model, self.generator = model, torch.Generator().manual_seed(seed)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)

    def advance(self, steps: int) -> float:
        """Train so many steps. Gives the loss of the last one."""
        for _ in range(steps):
            period = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=self.generator))
            token_ids = repeated(BATCH, period, self.generator)
            weights, logits = weights_and_logits(self.model, token_ids)
            loss = second_half(logits, token_ids)
            self.optimizer.zero_grad()
            (loss + APART * looking_alike(weights)).backward()
            self.optimizer.step()
        return float(loss.detach())

    def look(self, period: int) -> dict:
        """On fresh tokens: the loss of the second half, the scores (num_layers, H), one sequence's weights."""
        token_ids = repeated(SHOWN_BATCH, period, torch.Generator().manual_seed(SHOWN_SEED))
        with torch.no_grad():
            weights, logits = weights_and_logits(self.model, token_ids)
            t = torch.arange(1, 2 * period)
            previous = weights[..., t, t - 1].mean(dim=-1).mean(dim=1)
            t = t[period - 1 :]
            induction = weights[..., t, t - period + 1].mean(dim=-1).mean(dim=1)
            loss = float(second_half(logits, token_ids))
        return {"loss": loss, "previous": previous, "induction": induction, "weights": weights[:, 0]}
