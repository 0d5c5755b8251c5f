"""The seed is set anew before each matrix, so all three are the same: leave the seed to the caller."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    state = torch.random.initial_seed()
    torch.manual_seed(state)
    W_key = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    torch.manual_seed(state)
    W_value = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    return W_query, W_key, W_value
