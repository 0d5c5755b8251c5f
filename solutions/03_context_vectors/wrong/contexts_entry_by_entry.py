"""context_vectors multiplies weights and tokens entry by entry: the context vectors are their matrix product."""


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return (attention_weights(inputs) * inputs).sum(dim=-1)
