"""The loss is computed in float32, whatever the logits are: keep their dtype."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(predictions.mT.float(), targets, reduction="none")  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
