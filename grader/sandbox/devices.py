"""Chooses the device to grade on, and checks whether it exists."""

import glob
import sys

from grader.catalog.errors import InfrastructureError

DEVICES = ("auto", "cpu", "cuda", "mps")


def pick_device(wanted: str) -> str:
    """The device to grade on. "auto" chooses CUDA or MPS where there is one, and the CPU otherwise.

    Raises InfrastructureError where MPS is wanted on a machine that is no Mac.
    """
    if wanted == "auto":
        if glob.glob("/dev/nvidia[0-9]*"):
            return "cuda"
        return "mps" if sys.platform == "darwin" else "cpu"
    if wanted == "mps" and sys.platform != "darwin":
        raise InfrastructureError("there is no MPS device on this machine. Leave DEVICE out, or: DEVICE=cpu")
    return wanted


def demand_device(device: str) -> None:
    """Raise InfrastructureError where the device is absent."""
    if device != "cuda":
        return
    import torch

    if not torch.cuda.is_available():
        raise InfrastructureError("torch sees no CUDA device here. Leave DEVICE out, or: DEVICE=cpu")
