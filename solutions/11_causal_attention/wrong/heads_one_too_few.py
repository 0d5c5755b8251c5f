"""There is one head too few. The wrapper has num_heads of them."""


class MultiHeadAttentionWrapper:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(max(1, num_heads - 1))
        )
