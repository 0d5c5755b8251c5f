"""attention_scores shifts the tokens by one: entry [i, j] is the product of token i and token j, counted alike."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    return inputs @ inputs.roll(1, dims=0).T  # (T, d) @ (d, T) -> (T, T)
