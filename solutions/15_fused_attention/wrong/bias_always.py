"""qkv has a bias though none was asked for: hand qkv_bias on to nn.Linear."""


class FusedMultiHeadAttention:
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=True)
        self.out_proj = nn.Linear(d_out, d_out)

    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_key", "W_value")
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state_dict[f"{name}.weight"] for name in names]))  # (3 * d_out, d_in)
            if "W_query.bias" in state_dict:
                self.qkv.bias.copy_(torch.cat([state_dict[f"{name}.bias"] for name in names]))  # (3 * d_out,)
            self.out_proj.weight.copy_(state_dict["out_proj.weight"])
            self.out_proj.bias.copy_(state_dict["out_proj.bias"])
