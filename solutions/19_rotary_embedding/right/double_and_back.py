"""Style: all in float64 and cast back at the end; addcmul, flip of the halves, a small class for the tables."""

from dataclasses import dataclass

import torch


@dataclass
class Tables:
    cos: torch.Tensor
    sin: torch.Tensor

    @classmethod
    def make(cls, size: int, length: int, base: float) -> "Tables":
        steps = torch.linspace(0, 1, size // 2 + 1, dtype=torch.float64)[:-1]
        angles = torch.arange(length, dtype=torch.float64).outer(torch.pow(torch.tensor(base).double(), -steps))
        return cls(
            *(function(angles).repeat(1, 2).to(torch.get_default_dtype()) for function in (torch.cos, torch.sin))
        )


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    made = Tables.make(head_dim, context_length, float(base))
    return made.cos, made.sin


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    given = x.dtype
    x, cos, sin = x.double(), cos.double(), sin.double()
    last = offset + x.shape[-2]
    signs = torch.tensor([[-1.0], [1.0]], dtype=x.dtype, device=x.device)
    swapped = (x.unflatten(-1, (2, -1)).flip(-2) * signs).flatten(-2)
    return torch.addcmul(x * cos[offset:last], swapped, sin[offset:last]).to(given)
