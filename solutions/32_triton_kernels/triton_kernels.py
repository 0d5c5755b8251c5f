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
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)  # (BLOCK,)
    inside = columns < C
    x = tl.load(x_ptr + row * x_row + columns * x_column, mask=inside, other=-float("inf"))  # (BLOCK,)
    exponentials = tl.exp(x - tl.max(x, axis=0))  # 0 in the lanes behind the row
    tl.store(y_ptr + row * C + columns, exponentials / tl.sum(exponentials, axis=0), mask=inside)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Softmax over the last dimension of x (R, C), in one launch of softmax_kernel with R programs."""
    # Task 1: make an empty result, and launch the kernel.
    R, C = x.shape
    y = torch.empty((R, C), dtype=x.dtype, device=x.device)
    softmax_kernel[(R,)](x, y, C, x.stride(0), x.stride(1), BLOCK=triton.next_power_of_2(C))
    return y


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, BLOCK: tl.constexpr):
    """One program: one tile of the product, BLOCK × BLOCK numbers.

    a_ptr, b_ptr, c_ptr: the first numbers of a (M, K), b (K, N) and the result (M, N); then the strides of a and b.
    """
    # Task 2: walk along K in steps of BLOCK, and add up the products of two tiles.
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    tile = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        inner = start + tl.arange(0, BLOCK)  # (BLOCK,)
        a_mask = (rows[:, None] < M) & (inner[None, :] < K)
        b_mask = (inner[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * a_row + inner[None, :] * a_column, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * b_row + columns[None, :] * b_column, mask=b_mask, other=0.0)
        tile += tl.dot(a, b, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], tile, mask=inside)


def matmul(a: torch.Tensor, b: torch.Tensor, block: int = 32) -> torch.Tensor:
    """The product a @ b of (M, K) and (K, N), in one launch of matmul_kernel with one program for each tile."""
    # Task 2: a grid of two dimensions.
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    strides = (a.stride(0), a.stride(1), b.stride(0), b.stride(1))
    matmul_kernel[grid](a, b, c, M, N, K, *strides, BLOCK=block)
    return c


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
    batch, head = tl.program_id(1) // H, tl.program_id(1) % H
    queries = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    size = tl.arange(0, h)  # (h,)
    q_place = q_ptr + batch * q_batch + head * q_head + queries[:, None] * q_token + size[None, :] * q_size
    q = tl.load(q_place, mask=queries[:, None] < T, other=0.0)  # (BLOCK, h)
    largest = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    output = tl.zeros((BLOCK, h), dtype=tl.float32)
    end = tl.minimum(T, (tl.program_id(0) + 1) * BLOCK) if CAUSAL else T
    for start in range(0, end, BLOCK):
        keys = start + tl.arange(0, BLOCK)  # (BLOCK,)
        inside = keys[:, None] < T
        k_place = k_ptr + batch * k_batch + head * k_head + keys[:, None] * k_token + size[None, :] * k_size
        v_place = v_ptr + batch * v_batch + head * v_head + keys[:, None] * v_token + size[None, :] * v_size
        k = tl.load(k_place, mask=inside, other=0.0)  # (BLOCK, h)
        v = tl.load(v_place, mask=inside, other=0.0)  # (BLOCK, h)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale  # (BLOCK, BLOCK)
        seen = keys[None, :] < T
        if CAUSAL:
            seen = seen & (keys[None, :] <= queries[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))  # (BLOCK,)
        weights = tl.exp(scores - new_largest[:, None])  # (BLOCK, BLOCK)
        shrink = tl.exp(largest - new_largest)  # (BLOCK,)
        total = total * shrink + tl.sum(weights, axis=1)
        output = output * shrink[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        largest = new_largest
    output = output / total[:, None]
    o_place = o_ptr + batch * o_batch + head * o_head + queries[:, None] * o_token + size[None, :] * o_size
    tl.store(o_place, output.to(q.dtype), mask=queries[:, None] < T)


def flash_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, causal: bool = False, block: int = 32
) -> torch.Tensor:
    """Attention of (B, H, T, h), in one launch of flash_kernel with one program for each tile of queries of a head."""
    # Task 3: a program for each tile of queries of each head. The scale is 1 / √h.
    B, H, T, h = queries.shape
    output = torch.empty((B, H, T, h), dtype=queries.dtype, device=queries.device)
    strides = [stride for tensor in (queries, keys, values, output) for stride in tensor.stride()]
    grid = (triton.cdiv(T, block), B * H)
    flash_kernel[grid](queries, keys, values, output, H, T, h**-0.5, *strides, h=h, BLOCK=block, CAUSAL=causal)
    return output
