"""A prediction is compared with the token that it was made from: compare it with the next one."""


def second_half_loss(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    period = token_ids.shape[1] // 2
    losses = F.cross_entropy(model(token_ids).mT, token_ids, reduction="none")[:, :-1]  # (B, 2 * period - 1)
    return losses[:, period:].mean()  # predictions of tokens period + 1 …
