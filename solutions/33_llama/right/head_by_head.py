"""Loops over heads, tokens, rows and bytes; nothing clever."""

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


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        y = x.float()
        root = torch.sqrt((y * y).sum(-1, keepdim=True) / x.shape[-1] + self.eps)
        return (y / root).type_as(x) * self.weight


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        for name, a, b in (
            ("gate_proj", dim, hidden_dim),
            ("up_proj", dim, hidden_dim),
            ("down_proj", hidden_dim, dim),
        ):
            setattr(self, name, nn.Linear(a, b, bias=False))

    def forward(self, x):
        gate = self.gate_proj(x)
        return self.down_proj(gate * torch.sigmoid(gate) * self.up_proj(x))


class Attention(nn.Module):
    def __init__(self, dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0):
        super().__init__()
        self.H, self.G, self.h, self.theta = num_heads, num_kv_heads, head_dim, rope_theta
        self.q_proj = nn.Linear(dim, num_heads * head_dim, bias=False)
        self.k_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.v_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.o_proj = nn.Linear(num_heads * head_dim, dim, bias=False)

    def forward(self, x, cache=None):
        T = x.shape[1]
        before = 0 if cache is None else cache[0].shape[2]
        cos, sin = rope_angles(self.h, before + T, self.theta)
        cos, sin = cos.to(x.device), sin.to(x.device)
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        keys, values = [], []
        for g in range(self.G):
            part = slice(g * self.h, (g + 1) * self.h)
            key = apply_rope(k[:, None, :, part], cos, sin, before)[:, 0]
            value = v[:, :, part]
            if cache is not None:
                key = torch.cat([cache[0][:, g], key], dim=1)
                value = torch.cat([cache[1][:, g], value], dim=1)
            keys.append(key)
            values.append(value)
        outputs = []
        for head in range(self.H):
            g = head // (self.H // self.G)
            query = apply_rope(q[:, None, :, head * self.h : (head + 1) * self.h], cos, sin, before)[:, 0]
            rows = []
            for t in range(T):
                seen = before + t + 1
                scores = (query[:, t : t + 1] @ keys[g][:, :seen].transpose(1, 2)) / math.sqrt(self.h)
                rows.append(scores.softmax(-1) @ values[g][:, :seen])
            outputs.append(torch.cat(rows, dim=1))
        return self.o_proj(torch.cat(outputs, dim=-1)), (torch.stack(keys, dim=1), torch.stack(values, dim=1))


class Block(nn.Module):
    def __init__(self, dim, hidden_dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0, eps=1e-5):
        super().__init__()
        self.input_layernorm = RMSNorm(dim, eps)
        self.self_attn = Attention(dim, num_heads, num_kv_heads, head_dim, rope_theta)
        self.post_attention_layernorm = RMSNorm(dim, eps)
        self.mlp = FeedForward(dim, hidden_dim)

    def forward(self, x, cache=None):
        a, new = self.self_attn(self.input_layernorm(x), cache)
        y = x + a
        return y + self.mlp(self.post_attention_layernorm(y)), new


class Inner(nn.Module):
    def __init__(self, c, theta, eps):
        super().__init__()
        heads = c["num_attention_heads"]
        self.embed_tokens = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.layers = nn.ModuleList()
        for _ in range(c["num_hidden_layers"]):
            kv = c.get("num_key_value_heads") or heads
            size = c.get("head_dim") or c["hidden_size"] // heads
            self.layers.append(Block(c["hidden_size"], c["intermediate_size"], heads, kv, size, theta, eps))
        self.norm = RMSNorm(c["hidden_size"], eps)


class Llama(nn.Module):
    def __init__(self, config):
        super().__init__()
        theta = config.get("rope_theta")
        if theta is None and "rope_parameters" in config:
            theta = config["rope_parameters"].get("rope_theta")
        self.model = Inner(config, 10_000.0 if theta is None else theta, config.get("rms_norm_eps", 1e-6))
        if config.get("tie_word_embeddings"):
            self.lm_head = None
        else:
            self.lm_head = nn.Linear(config["hidden_size"], config["vocab_size"], bias=False)

    def forward(self, token_ids, caches=None):
        x = self.model.embed_tokens(token_ids)
        result = [None] * len(self.model.layers)
        for i in range(len(self.model.layers)):
            x, result[i] = self.model.layers[i](x, caches[i] if caches is not None else None)
        x = self.model.norm(x)
        if self.lm_head is None:
            return x @ self.model.embed_tokens.weight.T, result
        return self.lm_head(x), result


def read_safetensors(data):
    if len(data) < 8:
        raise ValueError("no length")
    n = 0
    for place in range(8):
        n += data[place] << (8 * place)
    if len(data) < 8 + n:
        raise ValueError("no header")
    try:
        header = json.loads(data[8 : 8 + n])
    except Exception:
        raise ValueError("the header is no JSON")
    if not isinstance(header, dict):
        raise ValueError("the header is no object")
    dtypes = dict(F64=torch.float64, F32=torch.float32, F16=torch.float16, BF16=torch.bfloat16)
    dtypes.update(I64=torch.int64, I32=torch.int32, I16=torch.int16, I8=torch.int8, U8=torch.uint8, BOOL=torch.bool)
    out, spans = {}, []
    for name in header:
        if name == "__metadata__":
            continue
        info = header[name]
        for key in ("dtype", "shape", "data_offsets"):
            if key not in info:
                raise ValueError(f"{name} has no {key}")
        if info["dtype"] not in dtypes:
            raise ValueError("unknown dtype")
        if len(info["data_offsets"]) != 2:
            raise ValueError("two offsets are needed")
        a, b = info["data_offsets"]
        if not (0 <= a <= b and 8 + n + b <= len(data)):
            raise ValueError("outside")
        dtype = dtypes[info["dtype"]]
        numbers = 1
        for size in info["shape"]:
            numbers *= size
        if numbers * torch.empty(0, dtype=dtype).element_size() != b - a:
            raise ValueError("size and shape differ")
        for c, d in spans:
            if max(a, c) < min(b, d):
                raise ValueError("overlap")
        spans.append((a, b))
        new = torch.empty(info["shape"], dtype=dtype)
        if numbers:
            new.view(-1).view(torch.uint8).copy_(torch.tensor(list(data[8 + n + a : 8 + n + b]), dtype=torch.uint8))
        out[name] = new
    return out


def next_distribution(logits, temperature=1.0, top_k=None, top_p=1.0):
    if temperature < 0 or (top_k is not None and top_k <= 0) or top_p <= 0 or top_p > 1:
        raise ValueError("no such choice")
    if logits.dim() > 1:
        return torch.stack([next_distribution(row, temperature, top_k, top_p) for row in logits])
    numbers = logits.tolist()
    order = sorted(range(len(numbers)), key=lambda i: -numbers[i])
    if temperature == 0:
        result = torch.zeros_like(logits)
        result[order[0]] = 1
        return result
    kept = order if top_k is None else order[:top_k]
    probabilities = F.softmax(logits[kept] / temperature, dim=0)
    if top_p < 1:
        total, count = 0.0, 0
        for p in probabilities.tolist():
            total += p
            count += 1
            if total >= top_p - 1e-7:
                break
        kept = kept[:count]
        probabilities = probabilities[:count] / probabilities[:count].sum()
    return torch.zeros_like(logits).index_put((torch.tensor(kept, device=logits.device),), probabilities)


def generate(model, token_ids, max_new_tokens, temperature=0.0, top_k=None, top_p=1.0, generator=None):
    if max_new_tokens == 0:
        return token_ids.clone()
    with torch.no_grad():
        logits, caches = model(token_ids, None)
        for step in range(max_new_tokens):
            distribution = next_distribution(logits[:, -1], temperature, top_k, top_p)
            if temperature == 0:
                new = distribution.max(dim=-1).indices
            else:
                new = torch.multinomial(distribution, 1, generator=generator).squeeze(1)
            token_ids = torch.cat([token_ids, new.unsqueeze(1)], dim=1)
            if step + 1 < max_new_tokens:
                logits, caches = model(new.unsqueeze(1), caches)
    return token_ids
