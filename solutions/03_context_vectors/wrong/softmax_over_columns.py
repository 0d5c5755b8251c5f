"""The softmax runs down the columns: each row of the weights should sum to 1, so look at dim."""


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    scores = inputs @ inputs.T  # (T, T)
    return torch.softmax(scores, dim=0)  # (T, T)
