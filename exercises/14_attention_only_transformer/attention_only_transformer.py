"""Exercise 14: a transformer of attention alone. Your earlier parts become a model that continues a text."""

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

    def __init__(self, d_model: int, num_heads: int, context_length: int):
        """Draw the weights.

        Args:
            d_model: size of a token's vector; every head has d_model / num_heads of it.
            num_heads: how many heads, H.
            context_length: the most tokens of one sequence.

        Raises:
            ValueError: num_heads does not divide d_model.
        """
        # Task 1: refuse an uneven split; W_query, W_key, W_value, out_proj, created in this order, no biases.
        super().__init__()
        raise NotImplementedError

    def attention_weights(self, x: torch.Tensor) -> torch.Tensor:
        """How much each token takes from itself and from each token before it.

        Args:
            x: the tokens' vectors, shape (B, T, d_model).

        Returns:
            weights, shape (B, H, T, T); each row sums to 1, and all is 0 above the diagonal.

        Raises:
            ValueError: T exceeds context_length.
        """
        # Task 1: refuse too many tokens; project and split queries and keys, score, scale by √h, mask, softmax.
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What each token takes from itself and from the tokens before it.

        Args:
            x: the tokens' vectors, shape (B, T, d_model).

        Returns:
            output, shape (B, T, d_model), to be added to x.

        Raises:
            ValueError: T exceeds context_length.
        """
        # Task 1: the weights, the values that they mix, merge, out_proj.
        raise NotImplementedError


class AttentionOnlyTransformer(nn.Module):
    """A language model of embeddings and attention: no LayerNorm, no MLP, no dropout.

    Parameters:
        token_embedding.weight: (vocab_size, d_model).
        position_embedding.weight: (context_length, d_model).
        layers.0.W_query.weight, …: those of num_layers CausalSelfAttention.
        unembedding.weight: (vocab_size, d_model).
    """

    def __init__(self, vocab_size: int, d_model: int, context_length: int, num_layers: int, num_heads: int):
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
        # Task 2: token_embedding, position_embedding, layers, unembedding, created in this order.
        super().__init__()
        raise NotImplementedError

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        """The logits of the token that comes next, after each token.

        Args:
            token_ids: int64, shape (B, T), each from 0 to vocab_size - 1.

        Returns:
            logits, shape (B, T, vocab_size).

        Raises:
            ValueError: T exceeds context_length.
        """
        # Task 2: token + position embedding; each layer's output is added; unembedding.
        raise NotImplementedError


def all_attention_weights(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    """The attention weights of every layer, each on what reaches it.

    Args:
        model: the model.
        token_ids: int64, shape (B, T), T at most the model's context_length.

    Returns:
        weights, shape (num_layers, B, H, T, T).
    """
    # Task 3: walk through the model once more, and keep each layer's weights.
    raise NotImplementedError


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    """The cross-entropy of each prediction with the token that comes next.

    Args:
        logits: shape (B, T, V), T at least 2.
        token_ids: int64, shape (B, T).

    Returns:
        losses, shape (B, T - 1), nothing averaged: number t belongs to the prediction of token t + 1.
    """
    # Task 4: the last logits have no next token, the first token has no prediction.
    raise NotImplementedError


def generate(model: AttentionOnlyTransformer, token_ids: torch.Tensor, max_new_tokens: int) -> torch.Tensor:
    """Continue the text: append the token with the largest logit, again and again. Builds no graph for gradients.

    Args:
        model: the model, which stays as it is.
        token_ids: the tokens to begin with, int64, shape (B, T), T of any size from 1 on.
        max_new_tokens: how many tokens to append, 0 or more.

    Returns:
        the given tokens and the new ones, shape (B, T + max_new_tokens).
    """
    # Task 5: feed the last context_length tokens, take the largest of the last logits, append it, under no_grad.
    raise NotImplementedError
