"""The backward pass is not told that attention was causal: hand `causal` on."""


class FlashAttention:
    @staticmethod
    def backward(ctx, grad_output: torch.Tensor):
        gradients = flash_attention_backward(*ctx.saved_tensors, grad_output, ctx.block_size)
        return *gradients, None, None
