"""The loss is counted in bits: it is the natural logarithm that counts."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return (
        F.cross_entropy(predictions.mT, targets, reduction="none") / 0.6931471805599453
    )  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
