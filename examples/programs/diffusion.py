"""A block of a diffusion model's UNet: a residual block that takes the time step, attention over the image with a text beside
it; and with the sizes that Stable Diffusion has."""
import functools
import math

import torch
from torch import nn
from torch.nn import functional as F


def time_embedding(steps, width):
    frequencies = torch.exp(-math.log(10000.0) * torch.arange(width // 2, dtype=torch.float32, device=steps.device) / (width // 2))
    angles = steps[:, None].float() * frequencies[None]
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


class Residual(nn.Module):
    def __init__(self, channels, out, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, channels), nn.Conv2d(channels, out, 3, padding=1)
        self.time = nn.Linear(time, out)
        self.norm2, self.conv2 = nn.GroupNorm(8, out), nn.Conv2d(out, out, 3, padding=1)
        self.skip = nn.Conv2d(channels, out, 1)

    def forward(self, x, t):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(t))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class Attention(nn.Module):
    def __init__(self, channels, context, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(channels)
        self.q, self.k, self.v = nn.Linear(channels, channels, bias=False), nn.Linear(context, channels, bias=False), nn.Linear(context, channels, bias=False)
        self.out = nn.Linear(channels, channels)

    def forward(self, x, context=None):
        y = self.norm(x)
        context = y if context is None else context
        q, k, v = (f(z).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f, z in ((self.q, y), (self.k, context), (self.v, context)))
        return x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self, channels, out, text, heads=4):
        super().__init__()
        self.channels = channels
        self.time = nn.Sequential(nn.Linear(channels, 4 * channels), nn.SiLU(), nn.Linear(4 * channels, 4 * channels))
        self.down = nn.Conv2d(channels, channels, 3, 2, 1)
        self.residual = Residual(channels, out, 4 * channels)
        self.own, self.cross = Attention(out, out, heads), Attention(out, text, heads)
        self.norm, self.gate, self.project = nn.LayerNorm(out), nn.Linear(out, 8 * out), nn.Linear(4 * out, out)
        self.up = nn.Conv2d(out + channels, channels, 3, padding=1)

    def forward(self, x, steps, text):
        t = self.time(time_embedding(steps, self.channels).to(x.dtype))
        y = self.residual(self.down(x), t)
        b, c, h, w = y.shape
        z = self.cross(self.own(y.flatten(2).transpose(1, 2)), text)
        value, gate = self.gate(self.norm(z)).chunk(2, dim=-1)
        z = z + self.project(value * F.gelu(gate))
        y = y + z.transpose(1, 2).reshape(b, c, h, w)
        return self.up(torch.cat([F.interpolate(y, scale_factor=2, mode="nearest"), x], dim=1))


def get_inputs():
    return [torch.randn(2, 32, 16, 16), torch.randint(0, 1000, (2,)), torch.randn(2, 7, 24)]


def get_init_inputs():
    return [32, 64, 24]


def at_full_size(batch, dtype):
    torch.manual_seed(0)
    block = Model(320, 640, 768, 10).to(dtype).eval()
    return block, [torch.randn(batch, 320, 64, 64, dtype=dtype), torch.randint(0, 1000, (batch,)), torch.randn(batch, 77, 768, dtype=dtype)]


# hone optimize examples/programs/diffusion.py:block_1_bf16, …
globals().update({f"{phase}_{batch}_{name}": functools.partial(at_full_size, batch, dtype) for phase in ("block",)
                  for batch in (1, 16) for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32))})
