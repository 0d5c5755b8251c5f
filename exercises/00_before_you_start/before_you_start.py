"""Exercise 00: what the other exercises take for granted of torch, five small things to try."""

import torch
from torch import nn


def centred_rows(x: torch.Tensor) -> torch.Tensor:
    """Each row minus its own mean.

    Args:
        x: shape (T, d), one row for each token.

    Returns:
        shape (T, d); every row has the mean 0.
    """
    # Task 1: the mean of each row, shape (T, 1), and x minus that.
    raise NotImplementedError


def all_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The dot product of every row of a with every row of b.

    Args:
        a: shape (T_a, d).
        b: shape (T_b, d).

    Returns:
        shape (T_a, T_b); entry [i, j] is the product of row i of a and row j of b.
    """
    # Task 2: one matrix product.
    raise NotImplementedError


def positions(x: torch.Tensor) -> torch.Tensor:
    """The numbers 0, 1, 2, … of the rows, as a tensor that can meet x.

    Args:
        x: shape (T, d).

    Returns:
        shape (T,), with the dtype of x and on its device.
    """
    # Task 3: a new tensor, made where x is.
    raise NotImplementedError


def less_fixed_mean(x: torch.Tensor) -> torch.Tensor:
    """x minus the mean of all its entries, where the mean counts as a fixed number.

    Args:
        x: any shape.

    Returns:
        the shape of x; its gradients are those of x minus a constant.
    """
    # Task 4: gradients flow through x, and not through the mean.
    raise NotImplementedError


class Affine(nn.Module):
    """A matrix and a bias that can be trained: x @ weight + bias.

    Args:
        d_in: size of a row that goes in.
        d_out: size of a row that comes out.
    """

    def __init__(self, d_in: int, d_out: int):
        # Task 5: weight (d_in, d_out), then bias (d_out,), each an nn.Parameter of torch.rand.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Every row times the matrix, plus the bias.

        Args:
            x: shape (T, d_in).

        Returns:
            shape (T, d_out).
        """
        # Task 5: one product, and the bias is added to every row.
        raise NotImplementedError
