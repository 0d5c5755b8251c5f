"""load_unfused puts the rows of the values where forward looks for the keys, and the other way round: use one order in both."""


class FusedMultiHeadAttention:
    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_value", "W_key")
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([state_dict[f"{name}.weight"] for name in names]))  # (3 * d_out, d_in)
            if self.qkv.bias is not None:
                self.qkv.bias.copy_(torch.cat([state_dict[f"{name}.bias"] for name in names]))  # (3 * d_out,)
            self.out_proj.weight.copy_(state_dict["out_proj.weight"])
            self.out_proj.bias.copy_(state_dict["out_proj.bias"])
