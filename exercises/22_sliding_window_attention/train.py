"""Teaches models around your function to copy a token from some places back: what `make train EX=22` runs.

Three models: one with a window that reaches everything, one with half of it, and two layers with half of it.
"""

import torch
from torch.nn import functional as F

SIZE, HEADS, TOKENS, WINDOW, BATCH = 48, 4, 12, 6, 128
RATE = 5e-3  # of Adam
STEPS = 200
RUNS = (f"one layer, window {TOKENS}", f"one layer, window {WINDOW}", f"two layers, window {WINDOW}")
COLUMNS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
TASK = "The last of 12 tokens names the digit some places back. Percent of right answers, by the number of places:"
PICTURE = f"what one layer with window {WINDOW} looks at: a row for each number, a column for each token"
WHY = (
    f"A window of {WINDOW} reaches the token itself and {WINDOW - 1} before it. What is further back is lost: the "
    "model guesses, and one guess in ten is right. Two layers reach further, because the first one has carried old "
    f"tokens into younger ones. A token {WINDOW - 1} back knows what it saw {WINDOW - 1} places before itself, so both "
    f"together reach {2 * (WINDOW - 1)} back. That is why a model with windows can read long texts, and why it has "
    "many layers."
)


class Copier(torch.nn.Module):
    """Layers around the learner's function. The last token gets the question added to it."""

    def __init__(self, layers: int, window: int):
        super().__init__()
        self.window = window
        self.token_embedding, self.question = torch.nn.Embedding(10, SIZE), torch.nn.Embedding(len(COLUMNS), SIZE)
        self.position_embedding, self.unembedding = torch.nn.Embedding(TOKENS, SIZE), torch.nn.Linear(SIZE, 10)
        self.projections = torch.nn.ModuleList(torch.nn.Linear(SIZE, 3 * SIZE) for _ in range(layers))
        self.outputs = torch.nn.ModuleList(torch.nn.Linear(SIZE, SIZE) for _ in range(layers))

    def forward(self, token_ids, back):
        """The logits of the last token, (B, 10), for a question each."""
        x = self.embed(token_ids, back)
        for project, output in zip(self.projections, self.outputs):
            query, keys, values = self.heads(project, x)
            context = sliding_window_attention(query, keys, values, self.window)  # the one that you wrote
            x = x + output(context.transpose(1, 2).flatten(2))
        return self.unembedding(x[:, -1])

    def embed(self, token_ids, back):
        """Tokens with positions, the last one with its question: (B, TOKENS, SIZE)."""
        x = self.token_embedding(token_ids) + self.position_embedding.weight
        return torch.cat([x[:, :-1], x[:, -1:] + self.question(back)[:, None]], dim=1)

    def heads(self, project, x):
        """Queries, keys and values, each (B, HEADS, TOKENS, h)."""
        return [part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in project(x).chunk(3, dim=-1)]


class Training:
    """Three models in training, on the same tokens."""

    def __init__(self, seed: int = 0):
        torch.manual_seed(seed)
        self.models = [Copier(1, TOKENS), Copier(1, WINDOW), Copier(2, WINDOW)]
        self.optimizers = [torch.optim.Adam(model.parameters(), RATE) for model in self.models]
        self.generator, self.losses = torch.Generator().manual_seed(seed), [float("nan")] * len(RUNS)

    def advance(self, steps: int) -> None:
        """Train each so many steps."""
        for _ in range(steps):
            token_ids = torch.randint(0, 10, (BATCH, TOKENS), generator=self.generator)
            back = torch.randint(0, len(COLUMNS), (BATCH,), generator=self.generator)
            answers = token_ids.gather(1, TOKENS - 1 - back[:, None])[:, 0]
            for number, (model, optimizer) in enumerate(zip(self.models, self.optimizers)):
                loss = F.cross_entropy(model(token_ids, back), answers)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self.losses[number] = float(loss.detach())

    def look(self) -> dict:
        """The losses, the share of right answers to new questions, and what the short window looks at."""
        generator = torch.Generator().manual_seed(FRESH_SEED)
        back = torch.arange(len(COLUMNS)).repeat_interleave(100)
        token_ids = torch.randint(0, 10, (len(back), TOKENS), generator=generator)
        answers = token_ids.gather(1, TOKENS - 1 - back[:, None])[:, 0]
        with torch.no_grad():
            right = [model(token_ids, back).argmax(dim=-1) == answers for model in self.models]
            shares = torch.stack([of_model.view(len(COLUMNS), -1).double().mean(dim=1) for of_model in right])
            model, back = self.models[1], torch.arange(len(COLUMNS))
            query, keys, _ = model.heads(model.projections[0], model.embed(token_ids[: len(back)], back))
            one_hot = torch.eye(TOKENS).expand(*keys.shape[:2], -1, -1)  # values that show the weights
            weights = sliding_window_attention(query, keys, one_hot, WINDOW)[:, :, -1].mean(dim=1)
        return {"loss": torch.tensor(self.losses), "right": shares, "weights": weights}
