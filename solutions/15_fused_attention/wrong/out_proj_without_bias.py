"""out_proj has no bias: it always has one; qkv_bias is for qkv alone."""


class FusedMultiHeadAttention:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out, bias=False)

    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_key", "W_value")
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state_dict[f"{name}.weight"] for name in names]))  # (3 * d_out, d_in)
            if self.qkv.bias is not None:
                self.qkv.bias.copy_(torch.cat([state_dict[f"{name}.bias"] for name in names]))  # (3 * d_out,)
            self.out_proj.weight.copy_(state_dict["out_proj.weight"])
