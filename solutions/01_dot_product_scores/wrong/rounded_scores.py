"""attention_scores rounds to the four digits that print shows: keep all of them."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    return torch.round(inputs @ inputs.T, decimals=4)
