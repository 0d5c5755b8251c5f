"""qkv_bias is not passed on to the heads: their layers never have a bias."""


class MultiHeadAttentionWrapper:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.heads = nn.ModuleList(CausalAttention(d_in, d_out, context_length, dropout) for _ in range(num_heads))
