"""The matrices are drawn in another order: first the query’s, then the key’s, then the value’s."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_key = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    W_value = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    return W_query, W_key, W_value
