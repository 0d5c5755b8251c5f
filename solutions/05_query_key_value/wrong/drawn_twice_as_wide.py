"""The matrices are scaled after drawing: take the numbers of torch.rand as they are."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query = torch.nn.Parameter(torch.rand(d_in, d_out) / d_in**0.5, requires_grad=False)  # (d_in, d_out)
    W_key = torch.nn.Parameter(torch.rand(d_in, d_out) / d_in**0.5, requires_grad=False)  # (d_in, d_out)
    W_value = torch.nn.Parameter(torch.rand(d_in, d_out) / d_in**0.5, requires_grad=False)  # (d_in, d_out)
    return W_query, W_key, W_value
