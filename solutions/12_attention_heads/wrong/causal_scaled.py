"""CausalHead scales its scores: here they go into the softmax as they are."""

import torch
from torch import nn


class AttentionHead(nn.Module):
    """One head of self-attention: every token sees every token of its sequence.

    Parameters:
        query.weight, key.weight, value.weight: each (head_size, embed_dim).
    """

    def __init__(self, embed_dim: int, head_size: int):
        """Draw the weights.

        Args:
            embed_dim: size of a token's embedding.
            head_size: size of a query, a key and a value, and so of the head's output.
        """
        # Task 1: the layers query, key, value, created in this order: an nn.Linear each, without bias.
        super().__init__()
        self.query = nn.Linear(embed_dim, head_size, bias=False)
        self.key = nn.Linear(embed_dim, head_size, bias=False)
        self.value = nn.Linear(embed_dim, head_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vectors of this head.

        Args:
            x: token embeddings, shape (B, T, embed_dim).

        Returns:
            context vectors, shape (B, T, head_size).
        """
        # Task 1: scaled dot-product attention, without a mask.
        queries = self.query(x)  # (B, T, head_size)
        keys = self.key(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = queries @ keys.mT  # (B, T, T), row i belongs to query i
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T), rows sum to 1
        return weights @ values  # (B, T, T) @ (B, T, head_size) -> (B, T, head_size)


class MultiHeadSelfAttention(nn.Module):
    """Several heads read the same tokens; a linear layer mixes what they found.

    Parameters:
        heads.0.query.weight, heads.0.key.weight, heads.0.value.weight, heads.1.query.weight, …:
            each (embed_dim // num_heads, embed_dim).
        output_linear.weight, output_linear.bias: (embed_dim, embed_dim) and (embed_dim,).
    """

    def __init__(self, embed_dim: int, num_heads: int):
        """Make the heads one after the other, then the output layer.

        Args:
            embed_dim: size of a token's embedding, and of the output.
            num_heads: how many heads share it.

        Raises:
            ValueError: num_heads does not divide embed_dim.
        """
        # Task 2: `heads`, a ModuleList of AttentionHeads, then `output_linear`, an nn.Linear with bias.
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {embed_dim} dimensions evenly")
        head_size = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, head_size) for _ in range(num_heads))
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The mixed context vectors of all heads.

        Args:
            x: token embeddings, shape (B, T, embed_dim).

        Returns:
            context vectors, shape (B, T, embed_dim).
        """
        # Task 2: the heads' outputs side by side, the first head's first, through the output layer.
        side_by_side = torch.cat([head(x) for head in self.heads], dim=-1)  # (B, T, embed_dim)
        return self.output_linear(side_by_side)  # (B, T, embed_dim)


class CausalHead(nn.Module):
    """One causal head with an output layer. Its scores are not scaled, and their rows belong to the keys.

    Parameters:
        key.weight, query.weight, value.weight: each (head_size, embed_dim).
        key.bias, query.bias, value.bias: each (head_size,).
        out.weight, out.bias: (embed_dim, head_size) and (embed_dim,).
    """

    def __init__(self, embed_dim: int, head_size: int):
        """Draw the weights.

        Args:
            embed_dim: size of a token's embedding, and of the output.
            head_size: size of a query, a key and a value.
        """
        # Task 3: the layers key, query, value, out, created in this order: an nn.Linear each, with bias.
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size)
        self.query = nn.Linear(embed_dim, head_size)
        self.value = nn.Linear(embed_dim, head_size)
        self.out = nn.Linear(head_size, embed_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output for each token, from itself and the tokens before it.

        Args:
            x: token embeddings, shape (B, T, embed_dim).

        Returns:
            output, shape (B, T, embed_dim).
        """
        # Task 3: scores[i, j] = key i · query j, not scaled; mask, softmax over each row, values, out.
        keys = self.key(x)  # (B, T, head_size)
        queries = self.query(x)  # (B, T, head_size)
        values = self.value(x)  # (B, T, head_size)
        scores = keys @ queries.mT  # (B, T, T), row i belongs to key i
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        weights = torch.softmax(
            scores.masked_fill(future, -torch.inf) / keys.shape[-1] ** 0.5, dim=-1
        )  # (B, T, T), rows sum to 1
        return self.out(weights @ values)  # (B, T, head_size) -> (B, T, embed_dim)
