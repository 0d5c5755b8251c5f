"""attention_weights divides scores by their sum: softmax takes exp first."""


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    scores = inputs @ inputs.T
    return scores / scores.sum(dim=-1, keepdim=True)
