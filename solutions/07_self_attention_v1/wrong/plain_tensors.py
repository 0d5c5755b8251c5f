"""The weight matrices are plain tensors or buffers: make each an nn.Parameter, so that it can be trained."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = torch.rand(d_in, d_out)  # (d_in, d_out)
        self.W_key = torch.rand(d_in, d_out)  # (d_in, d_out)
        self.W_value = torch.rand(d_in, d_out)  # (d_in, d_out)
