"""The projection is cut into pieces of d_in numbers: each of the three has d_out, which need not be as many."""


class FusedMultiHeadAttention:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.num_heads, self.dropout, self.size = num_heads, dropout, d_in
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries, keys, values = self.qkv(x).split(self.size, dim=-1)
        queries, keys, values = (
            split_heads(part, self.num_heads) for part in (queries, keys, values)
        )  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
