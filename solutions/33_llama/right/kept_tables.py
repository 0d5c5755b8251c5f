"""Tables of angles as buffers that are not saved, a named tuple as cache, hooks for the tied head."""

import json
import math
from typing import NamedTuple

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


class Cache(NamedTuple):
    keys: torch.Tensor
    values: torch.Tensor


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.full((dim,), 1.0)))
        self.eps = eps

    def forward(self, x):
        work = torch.promote_types(x.dtype, torch.float32)
        y = x.to(work)
        y = y / torch.linalg.vector_norm(y, dim=-1, keepdim=True).square().div(x.shape[-1]).add(self.eps).sqrt()
        return torch.mul(y.to(x.dtype), self.weight)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden_dim, bias=False)
        self.up_proj = nn.Linear(dim, hidden_dim, bias=False)
        self.down_proj = nn.Linear(hidden_dim, dim, bias=False)

    def forward(self, x):
        return self.down_proj(self.up_proj(x) * nn.functional.silu(self.gate_proj(x)))


class Attention(nn.Module):
    def __init__(self, dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0):
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.q_proj = nn.Linear(dim, num_heads * head_dim, bias=False)
        self.k_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.v_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.o_proj = nn.Linear(num_heads * head_dim, dim, bias=False)
        cos, sin = rope_angles(head_dim, 8192, rope_theta)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        start = cache[0].shape[2] if cache is not None else 0
        q = self.q_proj(x).reshape(B, T, self.num_heads, -1).permute(0, 2, 1, 3)
        k = self.k_proj(x).reshape(B, T, self.num_kv_heads, -1).permute(0, 2, 1, 3)
        v = self.v_proj(x).reshape(B, T, self.num_kv_heads, -1).permute(0, 2, 1, 3)
        q, k = (apply_rope(part, self.cos, self.sin, start) for part in (q, k))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        new = Cache(k, v)
        repeats = self.num_heads // self.num_kv_heads
        k, v = (part[:, :, None].expand(-1, -1, repeats, -1, -1).flatten(1, 2) for part in (k, v))
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        bias = torch.full((T, start + T), -torch.inf, device=x.device, dtype=x.dtype).triu(start + 1)
        weights = torch.softmax(scores + bias, -1)
        return self.o_proj((weights @ v).permute(0, 2, 1, 3).reshape(B, T, -1)), new


class Block(nn.Module):
    def __init__(self, dim, hidden_dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0, eps=1e-5):
        super().__init__()
        self.input_layernorm = RMSNorm(dim, eps)
        self.self_attn = Attention(dim, num_heads, num_kv_heads, head_dim, rope_theta)
        self.post_attention_layernorm = RMSNorm(dim, eps)
        self.mlp = FeedForward(dim, hidden_dim)

    def forward(self, x, cache=None):
        out, cache = self.self_attn(self.input_layernorm(x), cache=cache)
        x = x + out
        x = x + self.mlp(self.post_attention_layernorm(x))
        return x, cache


class Llama(nn.Module):
    def __init__(self, config):
        super().__init__()
        get = config.get
        heads = get("num_attention_heads")
        theta = get("rope_theta") or get("rope_parameters", {}).get("rope_theta") or 10_000.0
        eps = get("rms_norm_eps", 1e-6)
        self.model = nn.Module()
        self.model.add_module("embed_tokens", nn.Embedding(get("vocab_size"), get("hidden_size")))
        blocks = [
            Block(
                dim=get("hidden_size"),
                hidden_dim=get("intermediate_size"),
                num_heads=heads,
                num_kv_heads=get("num_key_value_heads", heads),
                head_dim=get("head_dim") or get("hidden_size") // heads,
                rope_theta=theta,
                eps=eps,
            )
            for _ in range(get("num_hidden_layers"))
        ]
        self.model.add_module("layers", nn.ModuleList(blocks))
        self.model.add_module("norm", RMSNorm(get("hidden_size"), eps))
        self.lm_head = nn.Linear(get("hidden_size"), get("vocab_size"), bias=False)
        if get("tie_word_embeddings", False):
            self.lm_head.weight = self.model.embed_tokens.weight

            def fill(module, state, prefix, *rest):
                state.setdefault(prefix + "lm_head.weight", state[prefix + "model.embed_tokens.weight"])

            self.register_load_state_dict_pre_hook(fill)

    def forward(self, token_ids, caches=None):
        x = self.model.embed_tokens(token_ids)
        new = []
        for number, layer in enumerate(self.model.layers):
            x, cache = layer(x, caches[number] if caches else None)
            new.append(cache)
        return self.lm_head(self.model.norm(x)), new


def read_safetensors(data):
    if len(data) < 8 or len(data) - 8 < int.from_bytes(data[:8], byteorder="little"):
        raise ValueError("the file is too short")
    end_of_header = 8 + int.from_bytes(data[:8], byteorder="little")
    header = json.loads(bytes(data[8:end_of_header]))
    if not isinstance(header, dict):
        raise ValueError("the header must be an object")
    dtypes = {
        "F64": torch.double,
        "F32": torch.float,
        "F16": torch.half,
        "BF16": torch.bfloat16,
        "I64": torch.long,
        "I32": torch.int,
        "I16": torch.short,
        "I8": torch.int8,
        "U8": torch.uint8,
        "BOOL": torch.bool,
    }
    used, tensors = [], {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        try:
            dtype = dtypes[info["dtype"]]
            shape = list(info["shape"])
            begin, end = info["data_offsets"]
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"entry {name} is damaged")
        if not 0 <= begin <= end <= len(data) - end_of_header:
            raise ValueError(f"entry {name} is not within the file")
        if end - begin != math.prod(shape) * torch.tensor([], dtype=dtype).element_size():
            raise ValueError(f"entry {name} has a wrong size")
        used.append((begin, end))
        piece = data[end_of_header + begin : end_of_header + end]
        if piece:
            tensors[name] = torch.frombuffer(piece, dtype=torch.uint8).clone().view(dtype).reshape(shape)
        else:
            tensors[name] = torch.empty(shape, dtype=dtype)
    last = 0
    for begin, end in sorted(used):
        if begin < last:
            raise ValueError("entries overlap")
        last = max(last, end)
    return tensors


def next_distribution(logits, temperature=1.0, top_k=None, top_p=1.0):
    if temperature < 0:
        raise ValueError(f"temperature {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k {top_k}")
    if top_p <= 0 or top_p > 1:
        raise ValueError(f"top_p {top_p}")
    if temperature == 0:
        temperature, top_k = 1.0, 1
    k = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
    values, places = torch.sort(logits, dim=-1, descending=True, stable=True)
    values, places = values[..., :k], places[..., :k]
    p = F.softmax(values / temperature, dim=-1)
    if top_p < 1.0:
        reached = torch.cumsum(p, dim=-1).roll(1, -1)
        reached[..., 0] = 0
        p = p * (reached < top_p)
        p = p / p.sum(dim=-1, keepdim=True)
    result = torch.zeros(logits.shape, dtype=logits.dtype, device=logits.device)
    return result.scatter_add(-1, places, p)


@torch.no_grad()
def generate(model, token_ids, max_new_tokens, temperature=0.0, top_k=None, top_p=1.0, generator=None):
    B, T = token_ids.shape
    result = torch.zeros(B, T + max_new_tokens, dtype=token_ids.dtype, device=token_ids.device)
    result[:, :T] = token_ids
    caches = None
    for t in range(T, T + max_new_tokens):
        feed = result[:, :T] if caches is None else result[:, t - 1 : t]
        logits, caches = model(feed, caches)
        p = next_distribution(logits[:, -1], temperature, top_k, top_p)
        if temperature > 0:
            result[:, t] = torch.multinomial(p, 1, generator=generator)[:, 0]
        else:
            result[:, t] = p.argmax(-1)
    return result
