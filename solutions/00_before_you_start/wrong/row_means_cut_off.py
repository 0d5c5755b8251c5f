"""The means of the rows are detached in centred_rows: here the gradient flows through them too. Task 4 cuts, task 1 does not."""


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(dim=1, keepdim=True).detach()  # (T, d) - (T, 1) -> (T, d)
