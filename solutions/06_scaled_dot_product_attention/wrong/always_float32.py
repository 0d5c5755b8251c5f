"""The weights are always float32: keep the dtype of the inputs. Look for float() and dtype=."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1, dtype=torch.float32)  # (…, T_q, T_k)


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return scaled_attention_weights(query, keys) @ values.float()  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)
