"""load_unfused takes the mask of the given state over as well: there True means hidden, here that a token may attend."""


class FusedMultiHeadAttention:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.register_buffer("mask", torch.ones(context_length, context_length, dtype=torch.bool).tril())
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        seen = self.mask[: x.shape[1], : x.shape[1]]
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=seen, dropout_p=dropout)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)

    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_key", "W_value")
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state_dict[f"{name}.weight"] for name in names]))  # (3 * d_out, d_in)
            if self.qkv.bias is not None:
                self.qkv.bias.copy_(torch.cat([state_dict[f"{name}.bias"] for name in names]))  # (3 * d_out,)
            self.mask.copy_(state_dict.get("mask", self.mask))
            self.out_proj.weight.copy_(state_dict["out_proj.weight"])
            self.out_proj.bias.copy_(state_dict["out_proj.bias"])
