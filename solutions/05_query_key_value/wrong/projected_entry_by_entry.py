"""project multiplies entry by entry, which is what * does: the matrix product is @."""


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = inputs * W_query
    keys = inputs * W_key
    values = inputs * W_value
    return queries, keys, values
