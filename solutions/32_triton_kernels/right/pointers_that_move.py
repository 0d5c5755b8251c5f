"""Pointers are made once and moved on; a grid as a function of the constants; no masks on what a step cannot leave."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out, inp, stride_r, stride_c, out_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    r = tl.program_id(axis=0)
    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols
    row = tl.load(inp + r * stride_r + offs * stride_c, mask=mask)
    row = tl.where(mask, row, float("-inf"))
    num = tl.exp(row - tl.max(row, 0))
    tl.store(out + r * out_stride + offs, num / tl.sum(num, 0), mask=mask)


def softmax(x):
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    n_rows, n_cols = x.shape
    softmax_kernel[(n_rows,)](
        y,
        x,
        x.stride(0),
        x.stride(1),
        y.stride(0),
        n_cols,
        BLOCK_SIZE=triton.next_power_of_2(n_cols),
        num_warps=4,
    )
    return y


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK)
    pid_m, pid_n = pid // tiles_n, pid % tiles_n
    offs_m = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_n = pid_n * BLOCK + tl.arange(0, BLOCK)
    offs_k = tl.arange(0, BLOCK)
    a_ptrs = a_ptr + (offs_m[:, None] * sam + offs_k[None, :] * sak)
    b_ptrs = b_ptr + (offs_k[:, None] * sbk + offs_n[None, :] * sbn)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK)):
        left = K - k * BLOCK
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & (offs_n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK * sak
        b_ptrs += BLOCK * sbk
    c_ptrs = c_ptr + offs_m[:, None] * scm + offs_n[None, :] * scn
    tl.store(c_ptrs, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def matmul(a, b, block=32):
    M, K = a.shape
    K, N = b.shape
    c = a.new_empty((M, N))
    grid = lambda META: (triton.cdiv(M, META["BLOCK"]) * triton.cdiv(N, META["BLOCK"]),)
    matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BLOCK=block)
    return c


@triton.jit
def flash_kernel(
    Q,
    K,
    V,
    O,
    sqb,
    sqh,
    sqt,
    sqd,
    skb,
    skh,
    skt,
    skd,
    svb,
    svh,
    svt,
    svd,
    sob,
    soh,
    sot,
    sod,
    H,
    T,
    sm_scale,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    i, b, h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    Q += b * sqb + h * sqh
    K += b * skb + h * skh
    V += b * svb + h * svh
    O += b * sob + h * soh
    rows = i * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, BLOCK)
    dims = tl.arange(0, D)
    q = tl.load(Q + rows[:, None] * sqt + dims[None, :] * sqd, mask=rows[:, None] < T, other=0.0)
    k_ptrs = K + dims[:, None] * skd + cols[None, :] * skt
    v_ptrs = V + cols[:, None] * svt + dims[None, :] * svd
    m = tl.full([BLOCK], float("-inf"), tl.float32)
    l = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    last = T
    if CAUSAL:
        last = tl.minimum(T, (i + 1) * BLOCK)
    for start in range(0, last, BLOCK):
        here = start + cols
        k = tl.load(k_ptrs, mask=here[None, :] < T, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * sm_scale
        s = tl.where(here[None, :] < T, s, float("-inf"))
        if CAUSAL:
            s = tl.where(rows[:, None] >= here[None, :], s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new[:, None])
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(v_ptrs, mask=here[:, None] < T, other=0.0)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        m = m_new
        k_ptrs += BLOCK * skt
        v_ptrs += BLOCK * svt
    acc = acc / l[:, None]
    tl.store(O + rows[:, None] * sot + dims[None, :] * sod, acc.to(O.dtype.element_ty), mask=rows[:, None] < T)


def flash_attention(queries, keys, values, causal=False, block=32):
    B, H, T, h = queries.shape
    out = torch.empty_like(queries)
    flash_kernel[(triton.cdiv(T, block), B, H)](
        queries,
        keys,
        values,
        out,
        *queries.stride(),
        *keys.stride(),
        *values.stride(),
        *out.stride(),
        H,
        T,
        1.0 / h**0.5,
        D=h,
        BLOCK=block,
        CAUSAL=causal,
        num_warps=4,
        num_stages=2,
    )
    return out
