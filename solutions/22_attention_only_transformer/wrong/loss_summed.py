"""The losses of a sequence are summed: give one for each prediction, (B, T − 1)."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(predictions.mT, targets, reduction="none").sum(
        dim=-1
    )  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
