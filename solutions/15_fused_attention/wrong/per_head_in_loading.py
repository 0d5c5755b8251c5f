"""load_unfused lays the rows out head by head, as GPT-NeoX does, but forward cuts qkv into three blocks: both must agree."""


class FusedMultiHeadAttention:
    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_key", "W_value")
        with torch.no_grad():
            self.qkv.weight.copy_(
                torch.cat(
                    [state_dict[f"{name}.weight"].unflatten(0, (self.num_heads, -1)) for name in names], 1
                ).flatten(0, 1)
            )  # (3 * d_out, d_in)
            if self.qkv.bias is not None:
                self.qkv.bias.copy_(
                    torch.cat(
                        [state_dict[f"{name}.bias"].unflatten(0, (self.num_heads, -1)) for name in names], 1
                    ).flatten(0, 1)
                )  # (3 * d_out,)
            self.out_proj.weight.copy_(state_dict["out_proj.weight"])
            self.out_proj.bias.copy_(state_dict["out_proj.bias"])
