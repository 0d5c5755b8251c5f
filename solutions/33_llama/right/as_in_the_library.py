"""As the library has it: ready-made attention, a head that is one Parameter under two names, inference mode."""

import json
import math
import struct

import numpy as np
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
        self.variance_epsilon = eps

    def forward(self, x):
        input_dtype = x.dtype
        hidden = x.to(torch.float32)
        variance = hidden.pow(2).mean(-1, keepdim=True)
        hidden = hidden * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden.to(input_dtype)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden_dim, bias=False)
        self.up_proj = nn.Linear(dim, hidden_dim, bias=False)
        self.down_proj = nn.Linear(hidden_dim, dim, bias=False)
        self.act_fn = nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class Attention(nn.Module):
    def __init__(self, dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0):
        super().__init__()
        self.head_dim, self.base, self.groups = head_dim, rope_theta, num_heads // num_kv_heads
        self.q_proj = nn.Linear(dim, num_heads * head_dim, bias=False)
        self.k_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.v_proj = nn.Linear(dim, num_kv_heads * head_dim, bias=False)
        self.o_proj = nn.Linear(num_heads * head_dim, dim, bias=False)

    def forward(self, x, cache=None):
        batch, tokens, _ = x.shape
        query = self.q_proj(x).view(batch, tokens, -1, self.head_dim).transpose(1, 2)
        key = self.k_proj(x).view(batch, tokens, -1, self.head_dim).transpose(1, 2)
        value = self.v_proj(x).view(batch, tokens, -1, self.head_dim).transpose(1, 2)
        seen = cache[0].size(-2) if cache else 0
        cos, sin = rope_angles(self.head_dim, seen + tokens, self.base)
        cos, sin = cos.to(x.device), sin.to(x.device)
        query, key = apply_rope(query, cos, sin, seen), apply_rope(key, cos, sin, seen)
        if cache:
            key, value = torch.cat((cache[0], key), dim=-2), torch.cat((cache[1], value), dim=-2)
        cache = (key, value)
        key, value = repeat_kv(key, self.groups), repeat_kv(value, self.groups)
        mask = torch.ones(tokens, seen + tokens, dtype=torch.bool, device=x.device).tril(diagonal=seen)
        out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.o_proj(out.transpose(1, 2).reshape(batch, tokens, -1)), cache


class Block(nn.Module):
    def __init__(self, dim, hidden_dim, num_heads, num_kv_heads, head_dim, rope_theta=10_000.0, eps=1e-5):
        super().__init__()
        self.self_attn = Attention(dim, num_heads, num_kv_heads, head_dim, rope_theta)
        self.mlp = FeedForward(dim, hidden_dim)
        self.input_layernorm = RMSNorm(dim, eps)
        self.post_attention_layernorm = RMSNorm(dim, eps)

    def forward(self, x, cache=None):
        residual = x
        hidden, cache = self.self_attn(self.input_layernorm(x), cache)
        hidden = residual + hidden
        residual = hidden
        hidden = self.mlp(self.post_attention_layernorm(hidden))
        return residual + hidden, cache


class LlamaModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        dim, heads = config["hidden_size"], config["num_attention_heads"]
        kv_heads = config["num_key_value_heads"] if "num_key_value_heads" in config else heads
        head_dim = config.get("head_dim")
        if head_dim is None:
            head_dim = dim // heads
        if "rope_theta" in config:
            theta = config["rope_theta"]
        else:
            theta = config.get("rope_parameters", {}).get("rope_theta", 10_000.0)
        eps = config.get("rms_norm_eps", 1e-6)
        self.embed_tokens = nn.Embedding(config["vocab_size"], dim)
        self.layers = nn.ModuleList(
            [
                Block(dim, config["intermediate_size"], heads, kv_heads, head_dim, theta, eps)
                for _ in range(config["num_hidden_layers"])
            ]
        )
        self.norm = RMSNorm(dim, eps)

    def forward(self, token_ids, caches):
        hidden = self.embed_tokens(token_ids)
        new = []
        for layer, cache in zip(self.layers, caches or [None] * len(self.layers)):
            hidden, cache = layer(hidden, cache)
            new.append(cache)
        return self.norm(hidden), new


class Llama(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(config["hidden_size"], config["vocab_size"], bias=False)
        self.tied = config.get("tie_word_embeddings", False)
        if self.tied:
            self.lm_head.weight = self.model.embed_tokens.weight

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if self.tied and "lm_head.weight" not in state_dict:
            state_dict = {**state_dict, "lm_head.weight": state_dict["model.embed_tokens.weight"]}
        return super().load_state_dict(state_dict, strict=strict, assign=assign)

    def forward(self, token_ids, caches=None):
        hidden, caches = self.model(token_ids, caches)
        return self.lm_head(hidden), caches


def read_safetensors(data):
    if len(data) < 8:
        raise ValueError("too short")
    (length,) = struct.unpack("<Q", data[:8])
    if 8 + length > len(data):
        raise ValueError("too short for its header")
    header = json.loads(data[8 : 8 + length].decode("utf-8"))
    if type(header) is not dict:
        raise ValueError("no object")
    header.pop("__metadata__", None)
    body = data[8 + length :]
    kinds = {
        "F64": "<f8",
        "F32": "<f4",
        "F16": "<f2",
        "I64": "<i8",
        "I32": "<i4",
        "U8": "u1",
        "BOOL": "?",
        "BF16": "<u2",
    }
    taken, result = np.zeros(len(body), dtype=bool), {}
    for name, info in header.items():
        if not isinstance(info, dict) or not {"dtype", "shape", "data_offsets"} <= set(info):
            raise ValueError(f"{name} lacks something")
        if info["dtype"] not in kinds or len(info["data_offsets"]) != 2:
            raise ValueError(f"{name} is strange")
        begin, end = info["data_offsets"]
        kind = np.dtype(kinds[info["dtype"]])
        if begin < 0 or begin > end or end > len(body):
            raise ValueError(f"{name} is not in the file")
        if end - begin != kind.itemsize * int(np.prod(info["shape"], dtype=np.int64)):
            raise ValueError(f"{name} has another size")
        if taken[begin:end].any():
            raise ValueError(f"{name} overlaps")
        taken[begin:end] = True
        array = np.frombuffer(body[begin:end], dtype=kind).reshape(info["shape"]).copy()
        if info["dtype"] == "BF16":
            tensor = torch.from_numpy(array.astype(np.int64)).to(torch.int32)
            tensor = (tensor << 16).view(torch.float32).to(torch.bfloat16)
        else:
            tensor = torch.from_numpy(array)
        result[name] = tensor
    return result


def next_distribution(logits, temperature=1.0, top_k=None, top_p=1.0):
    if temperature < 0:
        raise ValueError("temperature")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k")
    if not 0.0 < top_p <= 1.0:
        raise ValueError("top_p")
    if temperature == 0:
        result = torch.zeros_like(logits)
        return result.scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
    logits = logits / temperature
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    ranks = torch.argsort(order, dim=-1)
    if top_k is not None:
        logits = logits.masked_fill(ranks >= top_k, float("-inf"))
    probs = logits.softmax(-1)
    if top_p < 1.0:
        sorted_probs = probs.gather(-1, order)
        remove = (sorted_probs.cumsum(-1) - sorted_probs) >= top_p - 1e-7
        remove = remove.gather(-1, ranks)
        probs = probs.masked_fill(remove, 0.0)
        probs = probs / probs.sum(-1, keepdim=True)
    return probs


@torch.inference_mode()
def generate(model, token_ids, max_new_tokens, temperature=0.0, top_k=None, top_p=1.0, generator=None):
    past = None
    current = token_ids
    for _ in range(max_new_tokens):
        logits, past = model(current, past)
        probs = next_distribution(logits[:, -1, :], temperature, top_k, top_p)
        if temperature == 0:
            current = probs.argmax(-1, keepdim=True)
        else:
            current = torch.multinomial(probs, 1, generator=generator)
        token_ids = torch.cat((token_ids, current), dim=-1)
    return token_ids
