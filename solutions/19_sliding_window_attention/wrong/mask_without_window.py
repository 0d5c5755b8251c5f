"""The mask is the causal one: tokens that are `window` or more behind have to be hidden as well."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return distance >= 0
