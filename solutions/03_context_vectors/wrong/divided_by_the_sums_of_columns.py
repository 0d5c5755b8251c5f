"""The rows of exp are divided by the sums of the columns: sum along dim=-1 with keepdim=True, so that each row is divided by its own."""


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    scores = inputs @ inputs.T  # (T, T)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))  # (T, T)
    return powers / powers.sum(dim=0)  # (T, T)
