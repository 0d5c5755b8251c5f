"""attention_scores reshapes where it should transpose: reshape mixes the tokens up."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    return inputs @ inputs.reshape(inputs.shape[1], inputs.shape[0])
