"""As short as it gets."""

import json
import math

import torch
from torch import nn
from torch.nn import functional as F


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    frequencies = 1.0 / base ** (torch.arange(0, head_dim, 2) / head_dim)  # (h / 2,)
    angles = torch.arange(context_length)[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    other = torch.cat([-x[..., half:], x[..., :half]], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.repeat_interleave(repeats, dim=1)  # (B, G * repeats, T, h)


def lin(a, b):
    return nn.Linear(a, b, bias=False)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        y = x.float()
        return (y * (y.pow(2).mean(-1, True) + self.eps) ** -0.5).to(x) * self.weight


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = lin(dim, hidden_dim), lin(dim, hidden_dim), lin(hidden_dim, dim)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Attention(nn.Module):
    def __init__(self, dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0):
        super().__init__()
        self.h, self.theta = head_dim, rope_theta
        self.q_proj, self.k_proj = lin(dim, num_heads * head_dim), lin(dim, num_kv_heads * head_dim)
        self.v_proj, self.o_proj = lin(dim, num_kv_heads * head_dim), lin(num_heads * head_dim, dim)

    def forward(self, x, cache=None):
        q, k, v = (p(x).unflatten(-1, (-1, self.h)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        old = cache[0].shape[2] if cache else 0
        cs = [a.to(x.device) for a in rope_angles(self.h, old + x.shape[1], self.theta)]
        q, k = apply_rope(q, *cs, old), apply_rope(k, *cs, old)
        k, v = (torch.cat(p, 2) for p in zip(cache, (k, v))) if cache else (k, v)
        seen = torch.arange(k.shape[2], device=x.device) <= torch.arange(old, k.shape[2], device=x.device)[:, None]
        o = F.scaled_dot_product_attention(q, k, v, seen, enable_gqa=True)
        return self.o_proj(o.transpose(1, 2).flatten(2)), (k, v)


class Block(nn.Module):
    def __init__(self, dim, hidden_dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0, eps=1e-5):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(dim, eps), RMSNorm(dim, eps)
        self.self_attn = Attention(dim, num_heads, num_kv_heads, head_dim, rope_theta)
        self.mlp = FeedForward(dim, hidden_dim)

    def forward(self, x, cache=None):
        a, cache = self.self_attn(self.input_layernorm(x), cache)
        return (y := x + a) + self.mlp(self.post_attention_layernorm(y)), cache


class Llama(nn.Module):
    def __init__(self, config):
        super().__init__()
        c, d, H = config, config["hidden_size"], config["num_attention_heads"]
        theta = c.get("rope_theta", (c.get("rope_parameters") or {}).get("rope_theta", 1e4))
        eps, h = c.get("rms_norm_eps", 1e-6), c.get("head_dim") or d // H
        args = d, c["intermediate_size"], H, c.get("num_key_value_heads", H), h, theta, eps
        self.model = nn.ModuleDict({"embed_tokens": nn.Embedding(c["vocab_size"], d)})
        self.model["layers"] = nn.ModuleList([Block(*args) for _ in range(c["num_hidden_layers"])])
        self.model["norm"] = RMSNorm(d, eps)
        if not c.get("tie_word_embeddings"):
            self.lm_head = lin(d, c["vocab_size"])

    def forward(self, token_ids, caches=None):
        x, new = self.model["embed_tokens"](token_ids), []
        for i, block in enumerate(self.model["layers"]):
            x, c = block(x, caches and caches[i])
            new.append(c)
        return self.model["norm"](x) @ getattr(self, "lm_head", self.model["embed_tokens"]).weight.T, new


def read_safetensors(data):
    n = int.from_bytes(data[:8], "little") + 8
    if len(data) < n or len(data) < 8 or not isinstance(header := json.loads(data[8:n]), dict):
        raise ValueError("header")
    types = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    types |= {"I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}
    out, last = {}, 0
    header.pop("__metadata__", 0)
    try:
        for k, e in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            (a, b), t, s = e["data_offsets"], types[e["dtype"]], e["shape"]
            if a < last or b < a or n + b > len(data) or b - a != math.prod(s) * t.itemsize:
                raise ValueError(k)
            last = b
            out[k] = (
                torch.frombuffer(bytearray(data[n + a : n + b]), dtype=t).view(s) if b > a else torch.empty(s, dtype=t)
            )
    except LookupError:
        raise ValueError("an entry lacks something") from None
    return out


def next_distribution(logits, temperature=1.0, top_k=None, top_p=1.0):
    if temperature < 0 or top_p <= 0 or top_p > 1 or (top_k is not None and top_k < 1):
        raise ValueError
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).type_as(logits)
    p, i = (logits / temperature).softmax(-1).sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        p = p * (torch.arange(p.shape[-1], device=p.device) < top_k)
        p = p / p.sum(-1, True)
    if top_p < 1:
        p = p * (p.cumsum(-1) - p < top_p - 1e-7)
    return torch.zeros_like(p).scatter(-1, i, p / p.sum(-1, True))


@torch.no_grad()
def generate(model, token_ids, max_new_tokens, temperature=0.0, top_k=None, top_p=1.0, generator=None):
    new, caches = token_ids, None
    for _ in range(max_new_tokens):
        logits, caches = model(new, caches)
        p = next_distribution(logits[:, -1], temperature, top_k, top_p)
        new = torch.multinomial(p, 1, generator=generator) if temperature else p.argmax(-1, True)
        token_ids = torch.cat([token_ids, new], 1)
    return token_ids
