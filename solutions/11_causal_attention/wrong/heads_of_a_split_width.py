"""d_out is divided among the heads. Here every head has the whole d_out, and the result num_heads times as much."""


class MultiHeadAttentionWrapper:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, max(1, d_out // num_heads), context_length, dropout, qkv_bias)
            for _ in range(num_heads)
        )
