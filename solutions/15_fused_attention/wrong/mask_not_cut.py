"""The mask has context_length rows and columns, whatever the sequence has: cut it to the tokens at hand, or use is_causal=True."""


class FusedMultiHeadAttention:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("past", torch.ones(context_length, context_length, dtype=torch.bool).tril())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=self.past, dropout_p=dropout)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
