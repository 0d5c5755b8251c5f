"""load_unfused joins the three matrices along their columns: the rows of qkv are the outputs, so join along the rows."""


class FusedMultiHeadAttention:
    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_key", "W_value")
        with torch.no_grad():
            self.qkv.weight.copy_(
                torch.cat([state_dict[f"{name}.weight"] for name in names], dim=1)
            )  # (3 * d_out, d_in)
            if self.qkv.bias is not None:
                self.qkv.bias.copy_(torch.cat([state_dict[f"{name}.bias"] for name in names]))  # (3 * d_out,)
            self.out_proj.weight.copy_(state_dict["out_proj.weight"])
            self.out_proj.bias.copy_(state_dict["out_proj.bias"])
