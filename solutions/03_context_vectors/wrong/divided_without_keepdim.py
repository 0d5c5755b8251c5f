"""The sums of the rows lie along the columns when they divide: sum with keepdim=True, so that each row is divided by its own."""


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    scores = inputs @ inputs.T  # (T, T)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))  # (T, T)
    return powers / powers.sum(dim=-1)  # (T, T)
