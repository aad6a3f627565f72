"""A block of a Llama: RMS norm, attention with fewer heads of keys than of queries and rotary positions, a gated feed-forward. Written as
KernelBench writes its problems: Model, get_inputs, get_init_inputs; and as a model of 8 billion parameters has it, over a prompt
(prefill) or for one token more (decode), with the keys and values of those before."""
import functools

import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x.float()
        return self.weight * (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


def turned(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat([-second, first], dim=-1) * sine


class Model(nn.Module):
    def __init__(self, width, heads, key_heads, hidden, longest):
        super().__init__()
        self.heads, self.key_heads, self.size = heads, key_heads, width // heads
        self.before, self.between = Norm(width), Norm(width)
        self.q, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, key_heads * self.size, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)
        rates = 10000.0 ** (-torch.arange(0, self.size, 2) / self.size)
        angles = torch.outer(torch.arange(longest), rates).repeat(1, 2)
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)

    def forward(self, x, keys=None, values=None):
        first = 0 if keys is None else keys.shape[2]
        last = first + x.shape[1]
        y = self.before(x)
        q, k, v = (f(y).unflatten(-1, (-1, self.size)).transpose(1, 2) for f in (self.q, self.k, self.v))
        q, k = (turned(z, self.cosine[first:last], self.sine[first:last]) for z in (q, k))
        if keys is not None:
            k, v = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=keys is None, enable_gqa=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def get_inputs():
    return [torch.randn(2, 48, 128)]


def get_init_inputs():
    return [128, 8, 2, 352, 64]


def at_full_size(batch, dtype, past):
    torch.manual_seed(0)
    block = Model(4096, 32, 8, 14336, 1024).to(dtype).eval()
    kept = [torch.randn(batch, 8, past, 128, dtype=dtype) for _ in range(2 if past > 0 else 0)]
    return block, [torch.randn(batch, 1 if past > 0 else 1024, 4096, dtype=dtype), *kept]


# hone optimize examples/programs/llama.py:prefill_1_bf16, …
globals().update({f"{phase}_{batch}_{name}": functools.partial(at_full_size, batch, dtype, past) for phase, past in (("prefill", 0), ("decode", 1023))
                  for batch in (1, 16) for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32))})
