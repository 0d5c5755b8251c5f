"""The weight matrices are plain tensors: make each an nn.Parameter, so that it can be trained."""


class CrossAttention:
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        self.W_query = torch.rand(d_in, d_out_kq)  # (d_in, d_out_kq)
        self.W_key = torch.rand(d_in, d_out_kq)  # (d_in, d_out_kq)
        self.W_value = torch.rand(d_in, d_out_v)  # (d_in, d_out_v)
