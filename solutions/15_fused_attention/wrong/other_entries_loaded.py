"""load_unfused hands the entries it does not need, such as a mask, to load_state_dict, which refuses them: leave them out."""


class FusedMultiHeadAttention:
    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        names = ("W_query", "W_key", "W_value")
        others = {name: value for name, value in state_dict.items() if not name.startswith(names)}
        kinds = [kind for kind, _ in self.qkv.named_parameters()]  # weight, perhaps bias
        rows = {f"qkv.{kind}": torch.cat([state_dict[f"{name}.{kind}"] for name in names]) for kind in kinds}
        self.load_state_dict(others | rows)
