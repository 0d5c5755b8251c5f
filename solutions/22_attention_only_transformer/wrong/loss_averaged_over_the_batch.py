"""The losses are averaged over the batch: give one for each sequence too, (B, T − 1)."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(predictions.mT, targets, reduction="none").mean(
        dim=0
    )  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
