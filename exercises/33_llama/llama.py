"""Exercise 33: Llama. Your own attention inside a model of today, which reads real checkpoints and writes."""

import itertools
import json
import math

import torch
from torch import nn
from torch.nn import functional as F

Cache = tuple[torch.Tensor, torch.Tensor]  # rotated keys, and values, each (B, G, T so far, h)


def rope_angles(head_dim: int, context_length: int, base: float = 1e4) -> tuple[torch.Tensor, torch.Tensor]:  # given
    """The cosine and the sine of every position's angles, in the half layout: the second half repeats the first.

    Args:
        head_dim: size of one head, h; even.
        context_length: how many positions, T; they count from 0.
        base: pair i turns by base to the power of −2i / h radians from one position to the next.

    Returns:
        cos and sin, each of shape (context_length, head_dim), float32, on the CPU.
    """
    frequencies = 1.0 / base ** (torch.arange(0, head_dim, 2) / head_dim)  # (h / 2,)
    angles = torch.arange(context_length)[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:  # given
    """Turn each token's pairs of numbers (i, i + h / 2) by the angles of its position.

    Args:
        x: queries or keys, shape (B, H, T, h).
        cos: from rope_angles, shape (context_length, h).
        sin: from rope_angles, shape (context_length, h).
        offset: the position of the first token of x; offset + T is at most context_length.

    Returns:
        the turned queries or keys, of the shape and the dtype of x.
    """
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    other = torch.cat([-x[..., half:], x[..., :half]], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:  # given
    """Repeat each head of keys or values, its copies side by side.

    Args:
        x: keys or values, shape (B, G, T, h).
        repeats: how many copies of each head.

    Returns:
        the copies, shape (B, G * repeats, T, h): head 0, head 0, …, head 1, head 1, …
    """
    return x.repeat_interleave(repeats, dim=1)  # (B, G * repeats, T, h)


class RMSNorm(nn.Module):
    """Divides each token's vector by its root mean square, and scales every dimension by a weight.

    Parameters:
        weight: (dim,), ones at the beginning.
    """

    def __init__(self, dim: int, eps: float = 1e-5):
        """Create the weight.

        Args:
            dim: size of a token's vector.
            eps: is added to the mean of the squares, so that a vector of zeros is no division by 0.
        """
        # Task 1: an nn.Parameter of ones; keep eps.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The vectors with a mean square of 1, times the weight.

        Args:
            x: shape (…, dim).

        Returns:
            the same shape and dtype. Computed in float32 up to the weight, which multiplies in x's dtype.
        """
        # Task 1: to float32, mean of the squares, divide by its root, back to x's dtype, and only then the weight.
        raise NotImplementedError


class FeedForward(nn.Module):
    """What each token computes alone: a gate, silu(gate(x)), lets through a part of up(x); down brings it back.

    Parameters:
        gate_proj.weight, up_proj.weight: each (hidden_dim, dim).
        down_proj.weight: (dim, hidden_dim).
    """

    def __init__(self, dim: int, hidden_dim: int):
        """Draw the weights.

        Args:
            dim: size of a token's vector.
            hidden_dim: how many numbers there are in between.
        """
        # Task 2: gate_proj, up_proj, down_proj, created in this order, no biases.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output of each token, to be added to x.

        Args:
            x: shape (…, dim).

        Returns:
            the same shape.
        """
        # Task 2: silu of the gate, times up, then down.
        raise NotImplementedError


class Attention(nn.Module):
    """Causal attention with grouped heads, rotated positions and a cache.

    Parameters, with H = num_heads, G = num_kv_heads, h = head_dim:
        q_proj.weight: (H * h, dim).
        k_proj.weight, v_proj.weight: each (G * h, dim).
        o_proj.weight: (dim, H * h).
    """

    def __init__(self, dim: int, num_heads: int, num_kv_heads: int, head_dim: int, rope_theta: float = 10_000.0):
        """Draw the weights.

        Args:
            dim: size of a token's vector, d.
            num_heads: how many heads of queries, H.
            num_kv_heads: how many heads of keys and of values, G; divides H.
            head_dim: size of one head, h; H * h may differ from d.
            rope_theta: the base of the angles.
        """
        # Task 3: q_proj, k_proj, v_proj, o_proj, created in this order, no biases.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        """The output of each new token, from itself and all tokens before it.

        Args:
            x: the new tokens, shape (B, T, dim).
            cache: what the call for the tokens before them gave; None if there are none. It is not changed.

        Returns:
            output for the new tokens, shape (B, T, dim).
            rotated keys, and values, of all tokens so far, each (B, G, T_past + T, h).
        """
        # Task 3: project and split; rotate queries and keys by their positions; repeat, score, mask, mix, merge.
        # Task 4: the cache says how many tokens came before; append to its keys and values.
        raise NotImplementedError


class Block(nn.Module):
    """One layer: attention, then the feed-forward part. Each reads a normed x, and its output is added to x.

    Parameters: those of input_layernorm, self_attn, post_attention_layernorm and mlp.
    """

    def __init__(
        self,
        dim: int,
        hidden_dim: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int,
        rope_theta: float = 10_000.0,
        eps: float = 1e-5,
    ):
        """Create the four parts.

        Args:
            dim: size of a token's vector.
            hidden_dim: of the feed-forward part.
            num_heads: heads of queries.
            num_kv_heads: heads of keys and of values.
            head_dim: size of one head.
            rope_theta: the base of the angles.
            eps: of both norms.
        """
        # Task 5: input_layernorm, self_attn, post_attention_layernorm, mlp, created in this order.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        """The tokens after this layer.

        Args:
            x: the new tokens, shape (B, T, dim).
            cache: of this layer's attention.

        Returns:
            x, shape (B, T, dim), and the cache with the new tokens.
        """
        # Task 5: norm, attention, add; norm, feed-forward, add.
        raise NotImplementedError


class Llama(nn.Module):
    """A language model in the shape of Llama. It has the parameters of a checkpoint on the Hugging Face hub.

    Parameters:
        model.embed_tokens.weight: (vocab_size, hidden_size).
        model.layers.0.self_attn.q_proj.weight, …: those of num_hidden_layers blocks.
        model.norm.weight: (hidden_size,).
        lm_head.weight: (vocab_size, hidden_size), unless it is tied to the embedding.
    """

    def __init__(self, config: dict):
        """Draw the weights.

        Args:
            config: what config.json holds: vocab_size, hidden_size, intermediate_size, num_hidden_layers,
                num_attention_heads; num_key_value_heads (missing: num_attention_heads), head_dim (missing or None:
                hidden_size / num_attention_heads), rope_theta (missing: rope_parameters["rope_theta"], missing too:
                10,000), rms_norm_eps (missing: 1e-6), tie_word_embeddings (missing: False). Other keys are ignored.
        """
        # Task 6: model.embed_tokens, model.layers, model.norm, lm_head, created in this order.
        super().__init__()
        raise NotImplementedError

    def forward(self, token_ids: torch.Tensor, caches: list[Cache] | None = None) -> tuple[torch.Tensor, list[Cache]]:
        """The logits of the token that comes next, after each new token.

        Args:
            token_ids: the new tokens, int64, shape (B, T).
            caches: one for each layer, from the call for the tokens before them; None if there are none. The list and
                what is in it are not changed.

        Returns:
            logits, shape (B, T, vocab_size), and a new list of caches.
        """
        # Task 6: embed, every block with its own cache, the last norm, the head.
        raise NotImplementedError


DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


def read_safetensors(data: bytes) -> dict[str, torch.Tensor]:
    """Read the tensors of a safetensors file.

    Args:
        data: the bytes of the file: 8 bytes with the length of the header, the header (JSON), the tensors' bytes.

    Returns:
        tensors by name, each with memory of its own; "__metadata__" is left out.

    Raises:
        ValueError: the header is no JSON object, an entry lacks something, or the entries do not fit the data.
    """
    # Task 7: the length, little-endian; the header; then a slice of the data for each tensor.
    raise NotImplementedError


def next_distribution(
    logits: torch.Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0
) -> torch.Tensor:
    """The probabilities from which the next token is drawn.

    Args:
        logits: shape (…, V); −inf is allowed, but not everywhere.
        temperature: divides the logits; 0 gives all to the largest (the first of equals).
        top_k: only so many of the largest tokens stay; None: all.
        top_p: then only the largest stay whose sum reaches top_p, the one that crosses it included; 1: all.

    Returns:
        probabilities, shape (…, V). Of equal logits the one with the lower id counts as larger.

    Raises:
        ValueError: a temperature below 0, a top_k below 1, or a top_p outside of (0, 1].
    """
    # Task 8: refuse; temperature 0; sort (stable); top k; softmax; top p; divide by the sum; undo the sorting.
    raise NotImplementedError


def generate(
    model: Llama,
    token_ids: torch.Tensor,
    max_new_tokens: int,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue a text: the prompt is fed once, then one token a step, with caches. No graph for gradients is built.

    Args:
        model: called as model(token_ids, caches); it is left as it is.
        token_ids: the prompt, int64, shape (B, T).
        max_new_tokens: how many tokens to append, 0 or more.
        temperature, top_k, top_p: as in next_distribution.
        generator: for torch.multinomial; None: torch's own.

    Returns:
        the prompt and the new tokens, shape (B, T + max_new_tokens).
    """
    # Task 9: feed, take the last logits, choose, append; then feed the chosen token alone, with the caches.
    raise NotImplementedError
