"""The loss is 1 − probability: it is the negative logarithm of the probability."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    loss = F.cross_entropy(predictions.mT, targets, reduction="none")  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
    return 1 - torch.exp(-loss)
