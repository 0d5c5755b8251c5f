"""A lane behind the end reads the last number instead of nothing, and is taken out later; heads one by one as views."""

import torch
import triton
import triton.language as tl

NEG = -1.0e38


@triton.jit
def softmax_kernel(X, Y, n, s0, s1, W: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, W)
    safe = tl.minimum(lane, n - 1)
    x = tl.load(X + pid * s0 + safe * s1)
    x = tl.where(lane < n, x, -float("inf"))
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    y = e / tl.sum(e, axis=0)
    tl.store(Y + pid * n + lane, y, lane < n)


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = x.new_empty(x.shape)
    width = triton.next_power_of_2(x.shape[-1])
    softmax_kernel[x.shape[0], 1, 1](x, out, x.shape[-1], x.stride(0), x.stride(1), W=width)
    return out


@triton.jit
def matmul_kernel(A, B, C, M, N, K, s_am, s_ak, s_bk, s_bn, s_cm, s_cn, BLOCK: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    m = i * BLOCK + tl.arange(0, BLOCK)
    n = j * BLOCK + tl.arange(0, BLOCK)
    m_safe, n_safe = m % M, n % N
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in tl.range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(A + m_safe[:, None] * s_am + k[None, :] * s_ak, k[None, :] < K, 0.0)
        b = tl.load(B + k[:, None] * s_bk + n_safe[None, :] * s_bn, k[:, None] < K, 0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(C + m[:, None] * s_cm + n[None, :] * s_cn, acc, (m[:, None] < M) & (n[None, :] < N))


def matmul(a, b, block=32):
    out = torch.empty(b.shape[1], a.shape[0], device=a.device).t()
    tiles = [triton.cdiv(size, block) for size in out.shape]
    matmul_kernel[tuple(tiles)](
        a,
        b,
        out,
        out.shape[0],
        out.shape[1],
        a.shape[1],
        a.stride(0),
        a.stride(1),
        b.stride(0),
        b.stride(1),
        out.stride(0),
        out.stride(1),
        BLOCK=block,
    )
    return out


@triton.jit
def flash_kernel(
    Q,
    K,
    V,
    O,
    sq_b,
    sq_h,
    sq_t,
    sq_d,
    sk_b,
    sk_h,
    sk_t,
    sk_d,
    sv_b,
    sv_h,
    sv_t,
    sv_d,
    H,
    T,
    D: tl.constexpr,
    B_: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    t, h, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    d = tl.arange(0, D)
    rows = t * B_ + tl.arange(0, B_)
    r = tl.minimum(rows, T - 1)
    q = tl.load(Q + b * sq_b + h * sq_h + r[:, None] * sq_t + d[None, :] * sq_d)
    m_i = tl.full((B_,), -float("inf"), tl.float32)
    l_i = tl.zeros((B_,), tl.float32)
    o_i = tl.zeros((B_, D), tl.float32)
    stop = (t + 1) * B_ if CAUSAL else T
    for s in range(0, stop, B_):
        cols = s + tl.arange(0, B_)
        c = tl.minimum(cols, T - 1)
        k = tl.load(K + b * sk_b + h * sk_h + c[:, None] * sk_t + d[None, :] * sk_d)
        v = tl.load(V + b * sv_b + h * sv_h + c[:, None] * sv_t + d[None, :] * sv_d)
        qk = tl.dot(q, tl.trans(k), input_precision="ieee") / tl.sqrt(D * 1.0)
        ok = cols[None, :] < T
        if CAUSAL:
            ok &= cols[None, :] <= rows[:, None]
        qk = tl.where(ok, qk, -1.0e38)
        m_j = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.where(ok, tl.exp(qk - m_j[:, None]), 0.0)
        scale = tl.exp(m_i - m_j)
        l_i = l_i * scale + tl.sum(p, 1)
        o_i = o_i * scale[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_j
    o_i = o_i / l_i[:, None]
    at = O + ((b * H + h) * T + rows[:, None]) * D + d[None, :]
    tl.store(at, o_i.to(O.type.element_ty), mask=rows[:, None] < T)


def flash_attention(queries, keys, values, causal=False, block=32):
    batch, heads, tokens, size = queries.shape
    output = torch.empty(queries.shape, dtype=queries.dtype, device=queries.device)
    grid = (-(-tokens // block), heads, batch)
    flash_kernel[grid](
        queries,
        keys,
        values,
        output,
        *[s for x in (queries, keys, values) for s in x.stride()],
        heads,
        tokens,
        D=size,
        B_=block,
        CAUSAL=causal,
    )
    return output
