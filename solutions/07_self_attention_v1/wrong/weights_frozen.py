"""The weight matrices are made with requires_grad=False: here they should be trainable."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)  # (d_in, d_out)
