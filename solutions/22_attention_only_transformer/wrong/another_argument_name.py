"""next_token_loss calls its argument targets. The lesson calls it token_ids: callers may use the name."""


def next_token_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    token_ids = targets
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(predictions.mT, targets, reduction="none")  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
