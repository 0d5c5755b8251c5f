"""cross_entropy is given probabilities: it takes logits, and does the softmax itself."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(
        predictions.softmax(dim=-1).mT, targets, reduction="none"
    )  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
