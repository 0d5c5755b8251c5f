"""The matrices are filled with zeros: draw them with torch.rand."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query = torch.nn.Parameter(torch.zeros(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    W_key = torch.nn.Parameter(torch.zeros(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    W_value = torch.nn.Parameter(torch.zeros(d_in, d_out), requires_grad=False)  # (d_in, d_out)
    return W_query, W_key, W_value
