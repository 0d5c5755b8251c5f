"""init_weights seeds the random generator itself: every call then gives the same matrices."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(123)
    W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    W_key = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    W_value = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    return W_query, W_key, W_value
