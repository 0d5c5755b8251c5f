"""Exercise 15: induction heads. What the heads of a trained model look at, and what they are worth."""

import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:  # given
    """Cut each token's numbers into one piece per head, and put the heads in front: (B, T, d) -> (B, H, T, d / H)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:  # given
    """Undo split_heads: (B, H, T, h) -> (B, T, H * h)."""
    return x.transpose(1, 2).flatten(-2)


class CausalSelfAttention(nn.Module):
    """Causal self-attention with several heads, as in exercise 13, without biases and without dropout.

    Parameters:
        W_query.weight, W_key.weight, W_value.weight, out_proj.weight: each (d_model, d_model).
    """

    def __init__(self, d_model: int, num_heads: int, context_length: int):  # given
        """Draw the weights.

        Args:
            d_model: size of a token's vector; every head has d_model / num_heads of it.
            num_heads: how many heads, H.
            context_length: the most tokens of one sequence.

        Raises:
            ValueError: num_heads does not divide d_model.
        """
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} dimensions evenly")
        self.num_heads, self.context_length = num_heads, context_length
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def attention_weights(self, x: torch.Tensor) -> torch.Tensor:  # given
        """How much each token takes from itself and from each token before it.

        Args:
            x: the tokens' vectors, shape (B, T, d_model).

        Returns:
            weights, shape (B, H, T, T); each row sums to 1, and all is 0 above the diagonal.

        Raises:
            ValueError: T exceeds context_length.
        """
        tokens = x.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_model / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, H, T, T)
        return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (B, H, T, T), rows sum to 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # given
        """What each token takes from itself and from the tokens before it.

        Args:
            x: the tokens' vectors, shape (B, T, d_model).

        Returns:
            output, shape (B, T, d_model), to be added to x.

        Raises:
            ValueError: T exceeds context_length.
        """
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        mixed = self.attention_weights(x) @ values  # (B, H, T, T) @ (B, H, T, h) -> (B, H, T, h)
        return self.out_proj(merge_heads(mixed))  # (B, T, d_model)


class AttentionOnlyTransformer(nn.Module):
    """A language model of embeddings and attention: no LayerNorm, no MLP, no dropout.

    Parameters:
        token_embedding.weight: (vocab_size, d_model).
        position_embedding.weight: (context_length, d_model).
        layers.0.W_query.weight, …: those of num_layers CausalSelfAttention.
        unembedding.weight: (vocab_size, d_model).
    """

    def __init__(self, vocab_size: int, d_model: int, context_length: int, num_layers: int, num_heads: int):  # given
        """Draw the weights.

        Args:
            vocab_size: how many different tokens there are, V.
            d_model: size of a token's vector.
            context_length: the most tokens of one sequence.
            num_layers: how many layers of attention, 1 or more.
            num_heads: how many heads each layer has.

        Raises:
            ValueError: num_heads does not divide d_model.
        """
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        layers = [CausalSelfAttention(d_model, num_heads, context_length) for _ in range(num_layers)]
        self.layers = nn.ModuleList(layers)
        self.unembedding = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:  # given
        """The logits of the token that comes next, after each token.

        Args:
            token_ids: int64, shape (B, T), each from 0 to vocab_size - 1.

        Returns:
            logits, shape (B, T, vocab_size).

        Raises:
            ValueError: T exceeds context_length.
        """
        tokens = token_ids.shape[1]
        if tokens > self.context_length:
            raise ValueError(f"{tokens} tokens do not fit into a context of {self.context_length}")
        positions = torch.arange(tokens, device=token_ids.device)  # (T,)
        x = self.token_embedding(token_ids) + self.position_embedding(positions)  # (B, T, d_model)
        for layer in self.layers:
            x = x + layer(x)  # (B, T, d_model)
        return self.unembedding(x)  # (B, T, vocab_size)


def all_attention_weights(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:  # given
    """The attention weights of every layer, each on what reaches it.

    Args:
        model: the model.
        token_ids: int64, shape (B, T), T at most the model's context_length.

    Returns:
        weights, shape (num_layers, B, H, T, T).
    """
    positions = torch.arange(token_ids.shape[1], device=token_ids.device)  # (T,)
    x = model.token_embedding(token_ids) + model.position_embedding(positions)  # (B, T, d_model)
    weights = []
    for layer in model.layers:
        weights.append(layer.attention_weights(x))  # (B, H, T, T)
        x = x + layer(x)  # (B, T, d_model)
    return torch.stack(weights)  # (num_layers, B, H, T, T)


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:  # given
    """The cross-entropy of each prediction with the token that comes next.

    Args:
        logits: shape (B, T, V), T at least 2.
        token_ids: int64, shape (B, T).

    Returns:
        losses, shape (B, T - 1), nothing averaged: number t belongs to the prediction of token t + 1.
    """
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(predictions.mT, targets, reduction="none")  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)


def generate(model: AttentionOnlyTransformer, token_ids: torch.Tensor, max_new_tokens: int) -> torch.Tensor:  # given
    """Continue the text: append the token with the largest logit, again and again. Builds no graph for gradients.

    Args:
        model: the model, which stays as it is.
        token_ids: the tokens to begin with, int64, shape (B, T), T of any size from 1 on.
        max_new_tokens: how many tokens to append, 0 or more.

    Returns:
        the given tokens and the new ones, shape (B, T + max_new_tokens).
    """
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(token_ids[:, -model.context_length :])  # (B, at most context_length, V)
            new = logits[:, -1].argmax(dim=-1, keepdim=True)  # (B, V) -> (B, 1)
            token_ids = torch.cat([token_ids, new], dim=1)  # (B, one more)
    return token_ids


def repeated_tokens(batch: int, period: int, vocab_size: int, generator: torch.Generator | None = None) -> torch.Tensor:
    """Random tokens, and then the same again.

    Args:
        batch: how many sequences, B.
        period: how many tokens before they repeat.
        vocab_size: tokens are from 0 to vocab_size - 1.
        generator: where the random numbers come from; torch's own generator if it is None.

    Returns:
        tokens, int64, shape (B, 2 * period).
    """
    # Task 1: torch.randint(0, vocab_size, (batch, period), generator=generator), twice one after the other.
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)  # (B, period)
    return torch.cat([half, half], dim=1)  # (B, 2 * period)


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    """How much a head looks at the token before: the mean of weights[t, t - 1] over t = 1 … T - 1.

    Args:
        weights: attention weights, shape (…, T, T), T at least 2.

    Returns:
        the scores, shape (…).
    """
    # Task 2: one diagonal of the last two dimensions.
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)  # (…, T - 1) -> (…)


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    """How much a head looks at the token after the first occurrence of the present one.

    Args:
        weights: attention weights on tokens that repeat, shape (…, 2 * period, 2 * period).
        period: how many tokens before they repeat, at least 2.

    Returns:
        the mean of weights[t, t - period + 1] over t = period … 2 * period - 1, shape (…).
    """
    # Task 2: another diagonal, which begins in row period - 1: leave out its first entry.
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].mean(dim=-1)  # (…)


def second_half_loss(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    """The mean loss where the model can know what comes next.

    Args:
        model: the model.
        token_ids: tokens that repeat, int64, shape (B, 2 * period).

    Returns:
        the mean loss of the predictions of tokens period + 1 … 2 * period - 1, a scalar.
    """
    # Task 3: next_token_loss, without the predictions of the first half and of the token at period.
    period = token_ids.shape[1] // 2
    losses = next_token_loss(model(token_ids), token_ids)  # (B, 2 * period - 1), number t predicts token t + 1
    return losses[:, period:].mean()  # predictions of tokens period + 1 …


def without_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor, layer: int, head: int) -> torch.Tensor:
    """The logits of the model if one head adds nothing. The model itself stays as it is.

    Args:
        model: the model.
        token_ids: int64, shape (B, T).
        layer: the number of the layer, from 0.
        head: the number of the head in it, from 0.

    Returns:
        logits, shape (B, T, vocab_size), with this head's output (its slice before out_proj) set to 0.
    """
    # Task 4: walk through the model as its forward does; in this layer the mixed values of this head become 0.
    positions = torch.arange(token_ids.shape[1], device=token_ids.device)  # (T,)
    x = model.token_embedding(token_ids) + model.position_embedding(positions)  # (B, T, d_model)
    for number, part in enumerate(model.layers):
        values = split_heads(part.W_value(x), part.num_heads)  # (B, H, T, h)
        mixed = part.attention_weights(x) @ values  # (B, H, T, h)
        if number == layer:
            kept = torch.arange(part.num_heads, device=x.device) != head  # (H,)
            mixed = mixed * kept[:, None, None]  # (B, H, T, h)
        x = x + part.out_proj(merge_heads(mixed))  # (B, T, d_model)
    return model.unembedding(x)  # (B, T, vocab_size)


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    """The head with the highest induction score, averaged over the batch.

    Args:
        model: the model.
        token_ids: tokens that repeat, int64, shape (B, 2 * period).

    Returns:
        its layer and its number in the layer, two ints; of equal heads the first.
    """
    # Task 5: the scores of all heads, (num_layers, H); the place of the largest as two numbers.
    scores = induction_score(all_attention_weights(model, token_ids), token_ids.shape[1] // 2)  # (num_layers, B, H)
    best = int(scores.mean(dim=1).argmax())  # counts through all heads of all layers
    return divmod(best, scores.shape[-1])
