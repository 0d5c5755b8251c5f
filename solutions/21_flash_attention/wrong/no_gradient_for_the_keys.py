"""The keys get no gradient from autograd."""


class FlashAttention:
    @staticmethod
    def backward(ctx, grad_output: torch.Tensor):
        gradients = flash_attention_backward(*ctx.saved_tensors, grad_output, ctx.block_size, ctx.causal)
        return gradients[0], None, gradients[2], None, None
