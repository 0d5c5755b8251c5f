"""dropout is not passed on to the heads: they drop nothing."""


class MultiHeadAttentionWrapper:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, 0.0, qkv_bias) for _ in range(num_heads)
        )
