"""Softmax, a matrix product and flash attention as kernels: the code that runs on a GPU, written in Triton."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, C, x_row, x_column, BLOCK: tl.constexpr):
    """One program: the softmax of one row.

    x_ptr, y_ptr: the first numbers of x and of the result; C: numbers of a row; x_row, x_column: the strides of x;
    BLOCK: lanes, a power of two, at least C.
    """
    # Task 1: which row is it, and which lanes are inside it? Load, compute, store.
    raise NotImplementedError


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Softmax over the last dimension of x (R, C), in one launch of softmax_kernel with R programs."""
    # Task 1: make an empty result, and launch the kernel.
    raise NotImplementedError


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, BLOCK: tl.constexpr):
    """One program: one tile of the product, BLOCK × BLOCK numbers.

    a_ptr, b_ptr, c_ptr: the first numbers of a (M, K), b (K, N) and the result (M, N); then the strides of a and b.
    """
    # Task 2: walk along K in steps of BLOCK, and add up the products of two tiles.
    raise NotImplementedError


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 32) -> torch.Tensor:
    """The product a @ b of (M, K) and (K, N), in one launch of matmul_kernel with one program for each tile."""
    # Task 2: a grid of two dimensions.
    raise NotImplementedError


@triton.jit
def flash_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, H, T, scale,
    q_batch, q_head, q_token, q_size, k_batch, k_head, k_token, k_size, v_batch, v_head, v_token, v_size,
    o_batch, o_head, o_token, o_size, h: tl.constexpr, BLOCK: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """One program: the output of one tile of BLOCK queries of one head.

    q_ptr, k_ptr, v_ptr, o_ptr: the first numbers of queries, keys, values and output; then the strides of each.
    """
    # Task 3: the online softmax of exercise 29, over the tiles of keys and values that these queries may see.
    raise NotImplementedError


def flash_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, causal: bool = False, block: int = 32
) -> torch.Tensor:
    """Attention of (B, H, T, h), in one launch of flash_kernel with one program for each tile of queries of a head."""
    # Task 3: a program for each tile of queries of each head. The scale is 1 / √h.
    raise NotImplementedError
