"""The tolerances within which two right answers may differ."""

from typing import Any

import torch

# How far apart two right answers may lie: |got − expected| ≤ absolute + relative · |expected|.
# Chosen by measurement: `python tests/tolerances.py` prints how much of it right answers use, and by how
# much wrong ones exceed it; docs/tolerances.md holds the table.
TOLERANCE = {
    torch.float64: (1e-6, 1e-6),  # right answers may pass through float32 constants
    torch.float32: (1e-5, 1e-5),
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (3e-2, 3e-2),
}
CHUNK = 1 << 20  # elements that are compared at once
CUDA_FACTOR = 4.0  # other order of summation, TF32 off


def close(got: torch.Tensor, expected: torch.Tensor, absolute: Any, relative: Any) -> torch.Tensor:
    """Whether the elements of two float tensors agree: a bool tensor. NaN agrees with NaN, ±inf with itself alone."""
    finite = torch.isfinite(got) & torch.isfinite(expected)
    is_close = (got - expected).abs() <= absolute + relative * expected.abs()
    nans = torch.isnan(got) & torch.isnan(expected)
    return torch.where(finite, is_close, (got == expected) | nans)


def close_in_chunks(got: torch.Tensor, expected: torch.Tensor, absolute: float, relative: float) -> torch.Tensor:
    """As `close`, in float64 and in parts, because an answer that is compared with an earlier one may have any size."""
    if expected.numel() <= CHUNK:
        return close(got.double(), expected.double(), absolute, relative)
    chunks = zip(torch.split(got.reshape(-1), CHUNK), torch.split(expected.reshape(-1), CHUNK))
    return torch.cat(
        [close(got_chunk.double(), expected_chunk.double(), absolute, relative) for got_chunk, expected_chunk in chunks]
    ).view(got.shape)
