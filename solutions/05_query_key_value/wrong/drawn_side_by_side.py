"""The matrices are cut from one wide drawing, so their numbers are mixed: draw one after the other."""


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide = torch.rand(d_in, 3 * d_out)  # (d_in, 3 * d_out)
    W_query, W_key, W_value = wide.chunk(3, dim=1)  # (d_in, d_out) each
    return W_query, W_key, W_value
