"""Exercise 25: speculative decoding. A small model drafts, a large one checks, and the large one's odds are kept."""

import torch


def acceptance_rate(target_probs: torch.Tensor, draft_probs: torch.Tensor) -> torch.Tensor:
    """How likely it is that a token of the draft is kept.

    Args:
        target_probs: the target's distribution over V tokens, shape (…, V).
        draft_probs: the draft's, shape (…, V).

    Returns:
        the probability for each pair of distributions, shape (…).
    """
    # Task 1: of each token, as much is kept as both give it.
    raise NotImplementedError


def residual(target_probs: torch.Tensor, draft_probs: torch.Tensor) -> torch.Tensor:
    """The distribution to draw from after a rejection: the target's share that the draft misses.

    Args:
        target_probs: the target's distribution over V tokens, shape (…, V).
        draft_probs: the draft's, shape (…, V).

    Returns:
        max(0, target − draft), made to sum to 1 row by row, shape (…, V); the target's row where it is 0 everywhere.
    """
    # Task 2: the positive part of a difference, over its sum. Which rows have the sum 0?
    raise NotImplementedError


def draw(probs: torch.Tensor, uniform: torch.Tensor) -> int:
    """The token that a uniform number picks: the first at which the running sum exceeds it.

    Args:
        probs: a distribution over V tokens, shape (V,).
        uniform: a number in [0, 1), float64.

    Returns:
        the token; the last one of positive probability where rounding leaves none.
    """
    # Task 3: the running sum in float64, compared with the number.
    raise NotImplementedError


def accept_draft(
    target_probs: torch.Tensor, draft_probs: torch.Tensor, draft_tokens: torch.Tensor, uniforms: torch.Tensor
) -> torch.Tensor:
    """Keep draft tokens from the left up to the first that is rejected, and add one token more.

    Args:
        target_probs: the target's distribution at each of the K drafted places and after them, shape (K + 1, V).
        draft_probs: the draft's distribution at each drafted place, shape (K, V).
        draft_tokens: the drafted tokens, int64, shape (K,).
        uniforms: numbers in [0, 1), float64, shape (K + 1,): one for each draft token, the last for the token that is
            drawn.

    Returns:
        from 1 to K + 1 tokens, int64, shape (n,).
    """
    # Task 3: keep token i where its number is below p / q, else draw from the residual and stop.
    raise NotImplementedError


def expected_tokens_per_round(rate: float, num_draft: int) -> float:
    """How many tokens a round gives on average, if each draft token is kept with the same probability.

    Args:
        rate: that probability, from 0 to 1.
        num_draft: how many tokens are drafted in a round.

    Returns:
        the number of tokens, from 1 to num_draft + 1.
    """
    # Task 4: the sum of a geometric series.
    raise NotImplementedError


def speculative_generate(
    target: torch.Tensor,
    draft: torch.Tensor,
    token: int,
    max_new_tokens: int,
    num_draft: int,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue a text with the target's distribution, several tokens a round.

    Args:
        target: the large model as a table, float64, shape (V, V): row i has the logits of the token after token i.
        draft: the small one, shape (V, V).
        token: the token to begin with.
        max_new_tokens: how many tokens to add, 0 or more.
        num_draft: how many tokens are drafted in a round.
        generator: where the random numbers come from; torch's own where it is None.

    Returns:
        the token and the new ones, int64, shape (max_new_tokens + 1,).
    """
    # Task 5: a round takes torch.rand(2 * num_draft + 1, generator=generator, dtype=torch.float64).
    raise NotImplementedError
