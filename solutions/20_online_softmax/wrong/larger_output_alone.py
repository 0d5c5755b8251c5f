"""The output of the block with the larger maximum is taken alone: both count, by their shares of the sum."""


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
    output = torch.where((max_a > max_b)[..., None], out_a, out_b)  # (…, h)
    return maximum, total, output
