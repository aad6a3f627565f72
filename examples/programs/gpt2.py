"""A block of GPT-2: layer norms, attention with learned positions before it, a feed-forward with GELU; and with GPT-2's own sizes, over a
prompt (prefill) or for one token more (decode)."""
import functools

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, keys=None, values=None):
        q, k, v = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in self.qkv(self.before(x)).chunk(3, dim=-1))
        if keys is not None:
            k, v = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=keys is None).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.between(x)), approximate="tanh"))


def get_inputs():
    return [torch.randn(2, 40, 48)]


def get_init_inputs():
    return [48, 4]


def at_full_size(batch, dtype, past):
    torch.manual_seed(0)
    kept = [torch.randn(batch, 12, past, 64, dtype=dtype) for _ in range(2 if past > 0 else 0)]
    return Model(768, 12).to(dtype).eval(), [torch.randn(batch, 1 if past > 0 else 1024, 768, dtype=dtype), *kept]


# hone optimize examples/programs/gpt2.py:prefill_1_bf16, …
globals().update({f"{phase}_{batch}_{name}": functools.partial(at_full_size, batch, dtype, past) for phase, past in (("prefill", 0), ("decode", 1023))
                  for batch in (1, 16) for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32))})
