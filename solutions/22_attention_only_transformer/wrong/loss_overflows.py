"""The loss takes the logarithm of a softmax, which may be 0: use cross_entropy or log_softmax."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    probabilities = predictions.softmax(dim=-1).gather(-1, targets[..., None])[..., 0]  # (B, T - 1)
    return -probabilities.log()  # (B, T - 1)
