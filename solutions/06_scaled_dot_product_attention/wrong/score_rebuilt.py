"""attention_score is rebuilt with torch.tensor(…): that loses gradient, dtype and device. Keep the tensor."""


def attention_score(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return torch.tensor(sum(q.item() * k.item() for q, k in zip(query, key, strict=True)))  # ()
