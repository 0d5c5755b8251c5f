"""Exercise 23: latent attention. A cache of one short vector for each token, from which every head has its keys."""

import torch
from torch import nn


def rope_angles(head_dim: int, context_length: int, base: float = 1e4) -> tuple[torch.Tensor, torch.Tensor]:  # given
    """Exercise 19: the cosine and the sine of every position's angles, each (context_length, head_dim)."""
    frequencies = 1.0 / base ** (torch.arange(0, head_dim, 2) / head_dim)  # (h / 2,)
    angles = torch.arange(context_length)[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:  # given
    """Exercise 19: turn each token's pairs (i, i + h / 2) by the angles of its position, for x (…, T, h).

    cos and sin are those of rope_angles, on the device of x; offset is the position of x's first token.
    """
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]
    other = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return (x * cos + other * sin).to(x.dtype)


def cache_numbers(kind: str, num_heads: int, num_kv_heads: int, head_dim: int, d_latent: int, d_rope: int) -> int:
    """How many numbers a layer keeps for each token.

    Args:
        kind: "mha", "gqa", "mqa" or "mla". Arguments that a kind does not need are ignored.
        num_heads: number of query heads, H.
        num_kv_heads: number of key and value heads, for "gqa".
        head_dim: size of a head's key, and of its value.
        d_latent: size of the latent vector.
        d_rope: size of the rotated key.

    Returns:
        the number of numbers.
    """
    # Task 1: keys and values of some heads, or the latent vector and the rotated key.
    if kind == "mla":
        return d_latent + d_rope
    heads = {"mha": num_heads, "gqa": num_kv_heads, "mqa": 1}
    if kind not in heads:
        raise ValueError(f"no kind of attention is called {kind!r}")
    return 2 * heads[kind] * head_dim


class LatentAttention(nn.Module):
    """Causal multi-head attention whose keys and values come from one latent vector for each token.

    Parameters:
        q_proj.weight: (H * (head_dim + d_rope), d_in).
        kv_down.weight, k_rope.weight: (d_latent, d_in) and (d_rope, d_in).
        k_up.weight, v_up.weight: each (H * head_dim, d_latent).
        out_proj.weight: (d_in, H * head_dim).
    """

    def __init__(
        self, d_in: int, num_heads: int, head_dim: int, d_latent: int, d_rope: int, rope_theta: float = 10_000.0
    ):
        """Draw the weights.

        Args:
            d_in: size of a token's embedding, and of the output.
            num_heads: how many heads, H.
            head_dim: size of a head's key without its rotated part, and of its value.
            d_latent: size of the latent vector.
            d_rope: size of the rotated part of queries and keys; even.
            rope_theta: the base of the angles.
        """
        # Task 2: q_proj, kv_down, k_rope, k_up, v_up, out_proj, created in this order.
        super().__init__()
        self.num_heads, self.head_dim = num_heads, head_dim
        self.d_latent, self.d_rope, self.rope_theta = d_latent, d_rope, rope_theta
        self.q_proj = nn.Linear(d_in, num_heads * (head_dim + d_rope), bias=False)
        self.kv_down = nn.Linear(d_in, d_latent, bias=False)
        self.k_rope = nn.Linear(d_in, d_rope, bias=False)
        self.k_up = nn.Linear(d_latent, num_heads * head_dim, bias=False)
        self.v_up = nn.Linear(d_latent, num_heads * head_dim, bias=False)
        self.out_proj = nn.Linear(num_heads * head_dim, d_in, bias=False)

    def queries_and_cache(
        self, x: torch.Tensor, cache: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """What both ways to attend begin with.

        Args:
            x: embeddings of the new tokens, shape (B, T, d_in).
            cache: of the T_past tokens before them, shape (B, T_past, d_latent + d_rope), or None.

        Returns:
            the queries without rotation, shape (B, H, T, head_dim).
            the rotated queries, shape (B, H, T, d_rope).
            the cache of all tokens so far, shape (B, T_past + T, d_latent + d_rope).
        """
        # Task 2: cut the queries, rotate a part of them, and make the cache. Task 3: how many tokens came before?
        past = 0 if cache is None else cache.shape[1]
        cos, sin = rope_angles(self.d_rope, past + x.shape[1], self.rope_theta)  # (T_past + T, d_rope) each
        cos, sin = cos.to(x.device), sin.to(x.device)
        queries = self.q_proj(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (B, H, T, head_dim + d_rope)
        plain, turned = queries.split([self.head_dim, self.d_rope], dim=-1)
        turned = apply_rope(turned, cos, sin, past)  # (B, H, T, d_rope)
        new = torch.cat([self.kv_down(x), apply_rope(self.k_rope(x), cos, sin, past)], dim=-1)
        whole = new if cache is None else torch.cat([cache, new], dim=1)  # (B, T_past + T, d_latent + d_rope)
        return plain, turned, whole

    def forward(self, x: torch.Tensor, cache: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """The output for each new token, from itself and all tokens before it.

        Args:
            x: embeddings of the new tokens only, shape (B, T, d_in).
            cache: what the call for the tokens before them gave, shape (B, T_past, d_latent + d_rope); None where no
                tokens came before. It is not changed.

        Returns:
            output for the new tokens, shape (B, T, d_in).
            the cache of all tokens so far, shape (B, T_past + T, d_latent + d_rope).
        """
        # Task 2: make every head's keys and values from the latent vectors, then attend as usual.
        plain, turned, cache = self.queries_and_cache(x, cache)
        latent, turned_key = cache.split([self.d_latent, self.d_rope], dim=-1)
        keys = self.k_up(latent).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (B, H, T_past + T, head_dim)
        values = self.v_up(latent).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (B, H, T_past + T, head_dim)
        scores = plain @ keys.mT + turned @ turned_key.mT[:, None]  # (B, H, T, T_past + T)
        past = cache.shape[1] - x.shape[1]
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1 + past)  # (T, T_past + T)
        scale = (self.head_dim + self.d_rope) ** 0.5
        weights = torch.softmax(scores.masked_fill(future, -torch.inf) / scale, dim=-1)
        return self.out_proj((weights @ values).transpose(1, 2).flatten(-2)), cache  # (B, T, d_in)

    def absorbed_step(self, x: torch.Tensor, cache: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What forward gives for one new token, without making any key or value.

        Args:
            x: embedding of the new token, shape (B, 1, d_in).
            cache: of the tokens before it, at least one, shape (B, T_past, d_latent + d_rope).

        Returns:
            output for the new token, shape (B, 1, d_in).
            the cache of all tokens so far, shape (B, T_past + 1, d_latent + d_rope).
        """
        # Task 4: bring the query to the latent vectors, mix those, and bring the mix to the values.
        plain, turned, cache = self.queries_and_cache(x, cache)
        k_up = self.k_up.weight.unflatten(0, (self.num_heads, -1))  # (H, head_dim, d_latent)
        v_up = self.v_up.weight.unflatten(0, (self.num_heads, -1))  # (H, head_dim, d_latent)
        absorbed = torch.cat([plain @ k_up, turned], dim=-1)  # (B, H, 1, d_latent + d_rope)
        scores = absorbed @ cache.mT[:, None]  # (B, H, 1, T_past + 1)
        weights = torch.softmax(scores / (self.head_dim + self.d_rope) ** 0.5, dim=-1)
        mixed = weights @ cache[:, None, :, : self.d_latent]  # (B, H, 1, d_latent)
        context = mixed @ v_up.mT  # (B, H, 1, head_dim)
        return self.out_proj(context.transpose(1, 2).flatten(-2)), cache  # (B, 1, d_in)
