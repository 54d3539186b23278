"""Fused kernels for training on a CPU (`kernels.c`), as functions of PyTorch.

  gcc -O3 -march=native -mprefer-vector-width=512 -ffast-math -fopenmp -shared -fPIC kernels.c -o libpocket.so -lm

Without `libpocket.so` the model trains with PyTorch alone, three times slower.
"""
import ctypes
from pathlib import Path

import torch

library = ctypes.CDLL(str(Path(__file__).with_name("libpocket.so")))
size = ctypes.c_long


def address(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(context, x, weight):
        x = x.contiguous()
        width = x.shape[-1]
        rows = x.numel() // width
        out, scale = torch.empty_like(x), torch.empty(rows)
        library.rms_fwd(address(x), address(weight), address(out), address(scale), size(rows), size(width))
        context.save_for_backward(x, weight, scale)
        return out

    @staticmethod
    def backward(context, gradient):
        x, weight, scale = context.saved_tensors
        gradient, width = gradient.contiguous(), x.shape[-1]
        to_x, to_weight = torch.empty_like(x), torch.zeros_like(weight)
        library.rms_bwd(
            address(x), address(weight), address(scale), address(gradient), address(to_x), address(to_weight), size(x.numel() // width), size(width)
        )
        return to_x, to_weight


class SwiGlu(torch.autograd.Function):
    @staticmethod
    def forward(context, gate_and_up):
        width = gate_and_up.shape[-1] // 2
        rows = gate_and_up.numel() // (2 * width)
        out = torch.empty(*gate_and_up.shape[:-1], width, dtype=torch.bfloat16)
        library.swi_fwd(address(gate_and_up), address(out), size(rows), size(width))
        context.save_for_backward(gate_and_up)
        return out

    @staticmethod
    def backward(context, gradient):
        (gate_and_up,) = context.saved_tensors
        gradient, width = gradient.contiguous(), gate_and_up.shape[-1] // 2
        out = torch.empty_like(gate_and_up)
        library.swi_bwd(address(gate_and_up), address(gradient), address(out), size(gate_and_up.numel() // (2 * width)), size(width))
        return out


class Attention(torch.autograd.Function):
    """Queries, keys and values [batch, time, 3 * width] -> [batch, time, width]; rotary positions are applied inside."""

    @staticmethod
    def forward(context, qkv, cos, sin, heads):
        batch, time, triple = qkv.shape
        width = triple // 3
        out, logsum = torch.empty(batch, time, width, dtype=torch.bfloat16), torch.empty(batch * heads * time)
        library.att_fwd(
            address(qkv), address(cos), address(sin), address(out), address(logsum), size(batch), size(time), size(heads), size(width // heads)
        )
        context.save_for_backward(qkv, cos, sin, logsum)
        context.heads = heads
        return out

    @staticmethod
    def backward(context, gradient):
        qkv, cos, sin, logsum = context.saved_tensors
        gradient, (batch, time, triple) = gradient.contiguous(), qkv.shape
        out, heads = torch.empty_like(qkv), context.heads
        library.att_bwd(
            address(qkv), address(cos), address(sin), address(logsum), address(gradient), address(out), size(batch), size(time), size(heads),
            size(triple // 3 // heads),
        )
        return out, None, None, None
