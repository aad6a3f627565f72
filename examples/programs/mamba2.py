"""A Mamba-2 block: a short causal convolution, a state space whose scan is done in chunks by products, a gated norm; and with
the sizes of its smallest model."""
import functools

import torch
from torch import nn
from torch.nn import functional as F


def segment_sums(x):
    """[..., t] to [..., t, t]: what lies between two positions, minus infinity above the diagonal."""
    length = x.shape[-1]
    sums = torch.cumsum(x, dim=-1)
    mask = torch.ones(length, length, device=x.device, dtype=torch.bool).tril()
    return (sums[..., :, None] - sums[..., None, :]).masked_fill(~mask, float("-inf"))


class Model(nn.Module):
    def __init__(self, width, heads, state, chunk):
        super().__init__()
        inner = 2 * width
        self.heads, self.state, self.chunk, self.inner = heads, state, chunk, inner
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 2 * inner + 2 * state + heads, bias=False)
        self.conv = nn.Conv1d(inner + 2 * state, inner + 2 * state, 4, groups=inner + 2 * state, padding=3)
        self.log_a, self.d, self.bias = nn.Parameter(torch.rand(heads)), nn.Parameter(torch.ones(heads)), nn.Parameter(torch.rand(heads))
        self.scale = nn.Parameter(torch.ones(inner))
        self.out = nn.Linear(inner, width, bias=False)

    def scan(self, x, decay, b, c):
        batch, length, heads, head = x.shape
        chunks = length // self.chunk
        x = x.reshape(batch, chunks, self.chunk, heads, head)
        b, c = (z.reshape(batch, chunks, self.chunk, self.state) for z in (b, c))
        decay = decay.reshape(batch, chunks, self.chunk, heads).permute(0, 3, 1, 2)
        sums = torch.cumsum(decay, dim=-1)
        within = torch.exp(segment_sums(decay))
        y = torch.einsum("bcln,bcsn,bhcls,bcshp->bclhp", c, b, within, x)
        states = torch.einsum("bcln,bhcl,bclhp->bchpn", b, torch.exp(sums[..., -1:] - sums), x)
        states = torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)
        between = torch.exp(segment_sums(F.pad(sums[..., -1], (1, 0))))
        states = torch.einsum("bhzc,bchpn->bzhpn", between, states)[:, :-1]
        y = y + torch.einsum("bcln,bchpn,bhcl->bclhp", c, states, torch.exp(sums))
        return y.reshape(batch, length, heads, head)

    def forward(self, x):
        length = x.shape[1]
        z, xbc, step = self.project(self.norm(x)).split([self.inner, self.inner + 2 * self.state, self.heads], dim=-1)
        xbc = F.silu(self.conv(xbc.transpose(1, 2))[..., :length].transpose(1, 2))
        inner, b, c = xbc.split([self.inner, self.state, self.state], dim=-1)
        step = F.softplus(step + self.bias)
        heads = inner.unflatten(-1, (self.heads, -1))
        y = self.scan(heads * step[..., None], -torch.exp(self.log_a) * step, b, c) + heads * self.d[:, None]
        y = y.flatten(2) * F.silu(z)
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5) * self.scale
        return x + self.out(y)


def get_inputs():
    return [torch.randn(2, 48, 32)]


def get_init_inputs():
    return [32, 4, 16, 16]


def at_full_size(batch, dtype):
    torch.manual_seed(0)
    return Model(768, 24, 128, 256).to(dtype).eval(), [torch.randn(batch, 1024, 768, dtype=dtype)]


# hone optimize examples/programs/mamba2.py:prefill_1_bf16, …
globals().update({f"{phase}_{batch}_{name}": functools.partial(at_full_size, batch, dtype) for phase in ("prefill",)
                  for batch in (1, 16) for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32))})
