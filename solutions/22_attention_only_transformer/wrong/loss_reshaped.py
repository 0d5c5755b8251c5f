"""The classes are brought to dimension 1 by reshape, which leaves the numbers where they are: turn the dimensions instead."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    classes_first = predictions.reshape(predictions.shape[0], -1, predictions.shape[1])
    return F.cross_entropy(classes_first, targets, reduction="none")
