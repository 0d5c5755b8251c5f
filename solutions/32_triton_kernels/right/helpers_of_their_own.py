"""Helpers under @triton.jit for tiles and masks; powers of two instead of e; strides as tuples' parts."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def place(base, rows, columns, row_stride, column_stride):
    return base + rows[:, None] * row_stride + columns[None, :] * column_stride


@triton.jit
def within(rows, columns, height, width):
    return (rows[:, None] < height) & (columns[None, :] < width)


@triton.jit
def take(base, rows, columns, row_stride, column_stride, height, width):
    mask = within(rows, columns, height, width)
    return tl.load(place(base, rows, columns, row_stride, column_stride), mask=mask, other=0.0)


@triton.jit
def softmax_kernel(x, y, columns, step, across, BLOCK: tl.constexpr, LOG2E: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    values = tl.load(x + i * step + j * across, mask=j < columns, other=float("-inf"))
    largest = tl.max(values, axis=0)
    powers = tl.exp2((values - largest) * LOG2E)
    tl.store(y + i * columns + j, powers * (1.0 / tl.sum(powers, axis=0)), mask=j < columns)


def softmax(x):
    rows, columns = x.shape
    y = torch.zeros(rows, columns, dtype=x.dtype, device=x.device)
    block = 1
    while block < columns:
        block *= 2
    softmax_kernel[rows,](x, y, columns, *x.stride(), BLOCK=block, LOG2E=math.log2(math.e))
    return y


@triton.jit
def matmul_kernel(a, b, c, M, N, K, a0, a1, b0, b1, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    rows, columns = tl.program_id(1) * BLOCK + lanes, tl.program_id(0) * BLOCK + lanes
    total = tl.full((BLOCK, BLOCK), 0.0, tl.float32)
    step = 0
    while step < K:
        inner = step + lanes
        left = take(a, rows, inner, a0, a1, M, K)
        right = take(b, inner, columns, b0, b1, K, N)
        total += tl.dot(left, right, input_precision="ieee")
        step += BLOCK
    tl.store(place(c, rows, columns, N, 1), total, mask=within(rows, columns, M, N))


def matmul(a, b, block=32):
    M, N, K = a.size(0), b.size(1), a.size(1)
    c = torch.full((M, N), float("nan"), device=a.device)
    tiles = -(-N // block), -(-M // block)
    matmul_kernel[tiles](a, b, c, M, N, K, *a.stride(), *b.stride(), BLOCK=block)
    return c


@triton.jit
def flash_kernel(
    q,
    k,
    v,
    o,
    heads,
    tokens,
    scale,
    q0,
    q1,
    q2,
    q3,
    k0,
    k1,
    k2,
    k3,
    v0,
    v1,
    v2,
    v3,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    batch = tl.program_id(0) // heads
    head = tl.program_id(0) % heads
    tile = tl.program_id(1)
    dims, lanes = tl.arange(0, SIZE), tl.arange(0, BLOCK)
    mine = tile * BLOCK + lanes
    query = take(q + batch * q0 + head * q1, mine, dims, q2, q3, tokens, SIZE)
    top = tl.zeros((BLOCK,), tl.float32) - float("inf")
    sums = tl.zeros((BLOCK,), tl.float32)
    mixed = tl.zeros((BLOCK, SIZE), tl.float32)
    tiles = tl.cdiv(tokens, BLOCK)
    if CAUSAL:
        tiles = tile + 1
    for number in range(tiles):
        theirs = number * BLOCK + lanes
        key = take(k + batch * k0 + head * k1, theirs, dims, k2, k3, tokens, SIZE)
        value = take(v + batch * v0 + head * v1, theirs, dims, v2, v3, tokens, SIZE)
        scores = tl.dot(query, key.T, input_precision="ieee") * (scale * 1.4426950408889634)
        hidden = (theirs >= tokens)[None, :]
        if CAUSAL:
            hidden = hidden | (theirs[None, :] > mine[:, None])
        scores += tl.where(hidden, float("-inf"), 0.0)
        higher = tl.maximum(top, tl.max(scores, axis=1))
        powers = tl.exp2(scores - higher[:, None])
        factor = tl.exp2(top - higher)
        sums = sums * factor + tl.sum(powers, axis=1)
        mixed = mixed * factor[:, None] + tl.dot(powers.to(value.dtype), value, input_precision="ieee")
        top = higher
    out = o + (batch * heads + head) * tokens * SIZE
    answer = (mixed / sums[:, None]).to(query.dtype)
    tl.store(place(out, mine, dims, SIZE, 1), answer, mask=within(mine, dims, tokens, SIZE))


def flash_attention(queries, keys, values, causal=False, block=32):
    B, H, T, h = queries.shape
    output = torch.zeros(B, H, T, h, dtype=queries.dtype, device=queries.device)
    grid = (B * H, triton.cdiv(T, block))
    flash_kernel[grid](
        queries,
        keys,
        values,
        output,
        H,
        T,
        1 / math.sqrt(h),
        *queries.stride(),
        *keys.stride(),
        *values.stride(),
        SIZE=h,
        BLOCK=block,
        CAUSAL=causal,
    )
    return output
