"""One axis of programs for everything; keys walked from the last tile to the first; sizes of tiles kept apart."""

from math import sqrt

import torch
import triton
from triton import cdiv, next_power_of_2
from triton import language as tl


@triton.jit
def softmax_kernel(source, target, n: int, down: int, across: int, WIDTH: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    at = tl.arange(0, WIDTH)
    ok = at < n
    numbers = tl.load(source + row * down + at * across, mask=ok, other=float("-inf"))
    top = tl.max(numbers, axis=0)
    log_sum = top + tl.log(tl.sum(tl.exp(numbers - top), axis=0))
    tl.store(target + row * n + at, tl.exp(numbers - log_sum), mask=ok)


def softmax(x):
    (height, width), result = x.shape, torch.zeros_like(x, memory_format=torch.contiguous_format)
    softmax_kernel[(height,)](x, result, width, *x.stride(), WIDTH=next_power_of_2(width))
    return result


@triton.jit
def matmul_kernel(a, b, c, M, N, K, a_m, a_k, b_k, b_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    number = tl.program_id(0)
    across = (N + BN - 1) // BN
    m = number // across * BM + tl.arange(0, BM)[:, None]
    n = number % across * BN + tl.arange(0, BN)[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for k0 in range(0, K, BK):
        left_k = k0 + tl.arange(0, BK)[None, :]
        right_k = k0 + tl.arange(0, BK)[:, None]
        left = tl.load(a + m * a_m + left_k * a_k, (m < M) & (left_k < K), other=0)
        right = tl.load(b + right_k * b_k + n * b_n, ~((right_k >= K) | (n >= N)), other=0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + m * N + n, total, (m < M) & (n < N))


def matmul(a, b, block=32):
    M, K, N = *a.shape, b.shape[-1]
    c = torch.empty(M, N, device=a.device, dtype=a.dtype)
    matmul_kernel[(cdiv(M, block) * cdiv(N, block),)](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), block, block, 16
    )
    return c


@triton.jit
def flash_kernel(
    q,
    k,
    v,
    out,
    q_b,
    q_h,
    q_t,
    q_d,
    k_b,
    k_h,
    k_t,
    k_d,
    v_b,
    v_h,
    v_t,
    v_d,
    heads,
    tokens,
    scale,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    tiles = tl.cdiv(tokens, BLOCK)
    tile, which = tl.program_id(0) % tiles, tl.program_id(0) // tiles
    b, head = which // heads, which % heads
    d = tl.arange(0, SIZE)[None, :]
    row = tile * BLOCK + tl.arange(0, BLOCK)[:, None]
    lane = tl.arange(0, BLOCK)
    query = tl.load(q + b * q_b + head * q_h + row * q_t + d * q_d, mask=row < tokens, other=0.0)
    query = (query.to(tl.float32) * scale).to(query.dtype)
    best = tl.full([BLOCK], -1e30, tl.float32)
    weight = tl.zeros([BLOCK], tl.float32)
    mixed = tl.zeros([BLOCK, SIZE], tl.float32)
    last = tile + 1 if CAUSAL else tiles
    for back in range(0, last):
        first = (last - 1 - back) * BLOCK
        key_row = first + lane[:, None]
        there = key_row < tokens
        key = tl.load(k + b * k_b + head * k_h + key_row * k_t + d * k_d, mask=there, other=0.0)
        value = tl.load(v + b * v_b + head * v_h + key_row * v_t + d * v_d, mask=there, other=0.0)
        score = tl.dot(query, tl.trans(key), input_precision="ieee")
        column = first + lane[None, :]
        seen = column < tokens
        if CAUSAL:
            seen = seen & (column <= row)
        score = tl.where(seen, score, float("-inf"))
        better = tl.maximum(best, tl.max(score, axis=1))
        power = tl.exp(score - better[:, None])
        fade = tl.exp(best - better)
        weight = weight * fade + tl.sum(power, axis=1)
        mixed = mixed * fade[:, None] + tl.dot(power.to(value.dtype), value, input_precision="ieee")
        best = better
    place = out + (which * tokens + row) * SIZE + d
    tl.store(place, (mixed / weight[:, None]).to(out.dtype.element_ty), mask=row < tokens)


def flash_attention(queries, keys, values, causal=False, block=32):
    B, H, T, h = queries.shape
    out = torch.empty((B, H, T, h), dtype=queries.dtype, device=queries.device)
    strides = queries.stride() + keys.stride() + values.stride()
    flash_kernel[(cdiv(T, block) * B * H,)](
        queries, keys, values, out, *strides, H, T, 1 / sqrt(h), SIZE=h, BLOCK=block, CAUSAL=causal
    )
    return out
