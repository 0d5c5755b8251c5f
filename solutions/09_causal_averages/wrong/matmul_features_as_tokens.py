"""average_matmul makes the weights for d tokens: the number of tokens is x.shape[1]."""


def average_matmul(x: torch.Tensor) -> torch.Tensor:
    weights = averaging_weights(x.shape[2]).to(x)  # (T, T), dtype and device of x
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
