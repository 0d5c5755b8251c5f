"""The slow road: a row in two passes over its tiles, sums of products instead of tl.dot, the diagonal tile by itself."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, C, sr, sc, yr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    m = -float("inf")
    s = 0.0
    for start in range(0, C, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * sr + cols * sc, mask=cols < C, other=-float("inf"))
        bigger = tl.maximum(m, tl.max(x, axis=0))
        s = s * tl.exp(m - bigger) + tl.sum(tl.exp(x - bigger), axis=0)
        m = bigger
    for start in range(0, C, BLOCK):
        cols = start + lanes
        x = tl.load(x_ptr + row * sr + cols * sc, mask=cols < C, other=0.0)
        tl.store(y_ptr + row * yr + cols, tl.exp(x - m) / s, mask=cols < C)


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    softmax_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), x.stride(1), y.stride(0), BLOCK=16)
    return y


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, cm, cn, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    c = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(K):
        a = tl.load(a_ptr + m * am + k * ak, mask=m < M, other=0.0)
        b = tl.load(b_ptr + k * bk + n * bn, mask=n < N, other=0.0)
        c += a[:, None] * b[None, :]
    tl.store(c_ptr + m[:, None] * cm + n[None, :] * cn, c, mask=(m < M)[:, None] & (n < N)[None, :])


def matmul(a, b, block=32):
    c = a.new_zeros(a.shape[0], b.shape[1])
    grid = (triton.cdiv(a.shape[0], block), triton.cdiv(b.shape[1], block))
    matmul_kernel[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1], *a.stride(), *b.stride(), *c.stride(), block)
    return c


@triton.jit
def tile_of(ptr, tokens, dims, st, sd, T):
    return tl.load(ptr + tokens[:, None] * st + dims[None, :] * sd, mask=tokens[:, None] < T, other=0.0)


@triton.jit
def step(q, k, v, seen, scale, m, l, acc):
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    s = tl.where(seen, s, -float("inf"))
    m_new = tl.maximum(m, tl.max(s, axis=1))
    p = tl.exp(s - m_new[:, None])
    p = tl.where(seen, p, 0.0)
    f = tl.exp(m - m_new)
    return m_new, l * f + tl.sum(p, axis=1), acc * f[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")


@triton.jit
def flash_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    H,
    T,
    scale,
    qb,
    qh,
    qt,
    qd,
    kb,
    kh,
    kt,
    kd,
    vb,
    vh,
    vt,
    vd,
    ob,
    oh,
    ot,
    od,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    i = tl.program_id(0)
    b = tl.program_id(1) // H
    h = tl.program_id(1) - b * H
    d = tl.arange(0, D)
    mine = i * BLOCK + tl.arange(0, BLOCK)
    q = tile_of(q_ptr + b * qb + h * qh, mine, d, qt, qd, T)
    m = tl.full((BLOCK,), -float("inf"), tl.float32)
    l = tl.full((BLOCK,), 0.0, tl.float32)
    acc = tl.zeros((BLOCK, D), tl.float32)
    # All tiles that are whole: with CAUSAL those before mine.
    if CAUSAL:
        whole = i
    else:
        whole = T // BLOCK
    for j in range(0, whole):
        theirs = j * BLOCK + tl.arange(0, BLOCK)
        k = tile_of(k_ptr + b * kb + h * kh, theirs, d, kt, kd, T)
        v = tile_of(v_ptr + b * vb + h * vh, theirs, d, vt, vd, T)
        m, l, acc = step(q, k, v, theirs[None, :] < T, scale, m, l, acc)
    # And the last one, of which only some is seen.
    theirs = whole * BLOCK + tl.arange(0, BLOCK)
    if whole * BLOCK < T:
        k = tile_of(k_ptr + b * kb + h * kh, theirs, d, kt, kd, T)
        v = tile_of(v_ptr + b * vb + h * vh, theirs, d, vt, vd, T)
        seen = (theirs < T)[None, :]
        if CAUSAL:
            seen = seen & (theirs[None, :] <= mine[:, None])
        m, l, acc = step(q, k, v, seen, scale, m, l, acc)
    tl.store(
        o_ptr + b * ob + h * oh + mine[:, None] * ot + d[None, :] * od,
        (acc / l[:, None]).to(q.dtype),
        mask=(mine < T)[:, None],
    )


def flash_attention(queries, keys, values, causal=False, block=32):
    B, H, T, h = queries.shape
    o = queries.new_empty(B, T, H, h).transpose(1, 2)
    flash_kernel[(triton.cdiv(T, block), B * H)](
        queries,
        keys,
        values,
        o,
        H,
        T,
        h**-0.5,
        *queries.stride(),
        *keys.stride(),
        *values.stride(),
        *o.stride(),
        h,
        block,
        causal,
    )
    return o
