"""The loss is taken of probabilities: next_token_loss wants the logits."""


def second_half_loss(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    period = token_ids.shape[1] // 2
    losses = next_token_loss(
        model(token_ids).softmax(dim=-1), token_ids
    )  # (B, 2 * period - 1), number t foretells token t + 1
    return losses[:, period:].mean()  # predictions of tokens period + 1 …
