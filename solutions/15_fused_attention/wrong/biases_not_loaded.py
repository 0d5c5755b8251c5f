"""load_unfused forgets the biases of W_query, W_key and W_value."""


class FusedMultiHeadAttention:
    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_key", "W_value")
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state_dict[f"{name}.weight"] for name in names]))  # (3 * d_out, d_in)
            self.out_proj.weight.copy_(state_dict["out_proj.weight"])
            self.out_proj.bias.copy_(state_dict["out_proj.bias"])
