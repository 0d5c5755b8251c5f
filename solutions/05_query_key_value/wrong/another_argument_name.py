"""project calls its argument W_q. The lesson calls it W_query: callers may use the name."""


def project(
    inputs: torch.Tensor, W_q: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query = W_q
    queries = inputs @ W_query  # (T, d_in) @ (d_in, d_out) -> (T, d_out)
    keys = inputs @ W_key  # (T, d_out)
    values = inputs @ W_value  # (T, d_out)
    return queries, keys, values
