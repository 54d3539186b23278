"""The model: llama's architecture with tied embeddings, in PyTorch."""
import math
import os

import torch
import torch.nn.functional as F
from torch import nn

try:
    kernels = None
    if not os.environ.get("NO_KERNELS"):
        import kernels
except OSError:
    pass


class Shape:
    """Sizes of a model: vocabulary, width, layers, heads, width of the feed-forward part, longest context."""

    def __init__(self, vocabulary, width=192, layers=6, heads=6, hidden=512, context=512, rope_base=10000.0):
        self.vocabulary, self.width, self.layers, self.heads = vocabulary, width, layers, heads
        self.hidden, self.context, self.rope_base = hidden, context, rope_base


def rms_norm(x, weight):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5) * weight).to(x.dtype)


def rotate(x, cos, sin):
    left, right = x.chunk(2, -1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        width, hidden = shape.width, shape.hidden
        self.norm1, self.norm2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        self.qkv = matrix(3 * width, width, width**-0.5)
        self.out = matrix(width, width, 0.5 * width**-0.5 / math.sqrt(shape.layers))
        self.gate_up = matrix(2 * hidden, width, width**-0.5)
        self.down = matrix(width, hidden, 0.5 * hidden**-0.5 / math.sqrt(shape.layers))


def matrix(rows, columns, deviation):
    return nn.Parameter(torch.randn(rows, columns) * deviation)


class Model(nn.Module):
    """Rotary positions pair the first half of a head with the second; the export reorders rows for llama.cpp."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = matrix(shape.vocabulary, shape.width, 0.02)
        self.norm = nn.Parameter(torch.ones(shape.width))
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        head = shape.width // shape.heads
        angles = torch.arange(shape.context).float()[:, None] * (shape.rope_base ** (-torch.arange(0, head, 2).float() / head))[None]
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids, chosen=None, dtype=torch.bfloat16):
        """Logits of [batch, time] tokens, flattened; only those of the positions in `chosen` when given."""
        x = F.embedding(ids, self.embedding).to(dtype)
        fused = kernels is not None and dtype == torch.bfloat16 and not x.is_cuda
        norm = kernels.RmsNorm.apply if fused else rms_norm
        for block in self.blocks:
            qkv = F.linear(norm(x, block.norm1), block.qkv.to(dtype))
            mixed = kernels.Attention.apply(qkv, self.cos, self.sin, self.shape.heads) if fused else self.attend(qkv, dtype)
            x = x + F.linear(mixed, block.out.to(dtype))
            gate_up = F.linear(norm(x, block.norm2), block.gate_up.to(dtype))
            x = x + F.linear(kernels.SwiGlu.apply(gate_up) if fused else swi_glu(gate_up), block.down.to(dtype))
        flat = x.reshape(-1, self.shape.width)
        return F.linear(norm(flat if chosen is None else flat[chosen], self.norm), self.embedding.to(dtype))

    def attend(self, qkv, dtype):
        batch, time, _ = qkv.shape
        heads, width = self.shape.heads, self.shape.width
        cos, sin = self.cos[:time].to(dtype)[None, :, None], self.sin[:time].to(dtype)[None, :, None]
        query, key, value = qkv.view(batch, time, 3, heads, width // heads).unbind(2)
        query, key, value = rotate(query, cos, sin).transpose(1, 2), rotate(key, cos, sin).transpose(1, 2), value.transpose(1, 2)
        hidden_future = torch.full((time, time), float("-inf"), device=qkv.device, dtype=dtype).triu(1)
        weights = ((query * (width // heads) ** -0.5) @ key.transpose(-1, -2) + hidden_future).softmax(-1)
        return (weights @ value).transpose(1, 2).reshape(batch, time, width)


def swi_glu(gate_up):
    gate, up = gate_up.chunk(2, -1)
    return F.silu(gate) * up
