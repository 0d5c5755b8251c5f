"""The loss is cut from the graph: training would never get a gradient."""


def next_token_loss(logits: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
    predictions, targets = logits[:, :-1], token_ids[:, 1:]  # (B, T - 1, V), (B, T - 1)
    return F.cross_entropy(
        predictions.mT.detach(), targets, reduction="none"
    )  # (B, V, T - 1), (B, T - 1) -> (B, T - 1)
