"""The gradient that reaches the output is ignored, as if it were 1 everywhere."""


class FlashAttention:
    @staticmethod
    def backward(ctx, grad_output: torch.Tensor):
        gradients = flash_attention_backward(
            *ctx.saved_tensors, torch.ones_like(grad_output), ctx.block_size, ctx.causal
        )
        return *gradients, None, None
