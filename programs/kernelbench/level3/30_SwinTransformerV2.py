"""Swin Transformer V2 (Liu et al. 2022): cosine attention in shifted windows, a bias that a small net makes of distances, norms last."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from parts import Swin, unwindowed, windows

FULL = {"batch": 10, "image": 224, "patch": 4, "width": 96, "counts": [2, 2, 6, 2], "heads": [3, 6, 12, 24], "window": 7, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "patch": 4, "width": 8, "counts": [2, 2], "heads": [2, 4], "window": 4, "classes": 5}


class Attention(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.q_bias, self.v_bias = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.zeros(width))
        self.scale = nn.Parameter(torch.full((heads, 1, 1), math.log(10.0)))
        self.bias = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, heads, bias=False))
        side = torch.arange(1 - window, window)
        table = torch.stack(torch.meshgrid(side, side, indexing="ij"), -1).float() * 8 / max(1, window - 1)
        self.register_buffer("table", table.sign() * torch.log2(table.abs() + 1) / 3, persistent=False)
        at = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        apart = at[:, :, None] - at[:, None, :] + window - 1
        self.register_buffer("index", apart[0] * (2 * window - 1) + apart[1], persistent=False)

    def forward(self, x, mask):
        n, t, width = x.shape
        bias = torch.cat([self.q_bias, torch.zeros_like(self.v_bias), self.v_bias])
        q, k, v = F.linear(x, self.qkv.weight, bias).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * self.scale.clamp(max=math.log(100.0)).exp()
        table = 16 * torch.sigmoid(self.bias(self.table).view(-1, self.heads))
        scores = scores + table[self.index.view(-1)].view(t, t, -1).permute(2, 0, 1)
        if mask is not None:
            scores = (scores.view(-1, mask.shape[0], self.heads, t, t) + mask[:, None]).view(n, self.heads, t, t)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, width))


class Block(nn.Module):
    def __init__(self, width, heads, side, window, shift):
        super().__init__()
        self.window, self.shift = window, shift
        self.attention, self.norm1, self.norm2 = Attention(width, heads, window), nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        mask = None
        if shift:
            part = (torch.arange(side) >= side - window).long() + (torch.arange(side) >= side - shift)
            parts = windows((part[:, None] * 3 + part)[None, :, :, None], window)[..., 0]
            mask = torch.where(parts[:, :, None] == parts[:, None, :], 0.0, -100.0)
        self.register_buffer("mask", mask)

    def forward(self, x):
        h, w = x.shape[1:3]
        y = x.roll((-self.shift, -self.shift), (1, 2)) if self.shift else x
        y = unwindowed(self.attention(windows(y, self.window), self.mask), self.window, h, w)
        x = x + self.norm1(y.roll((self.shift, self.shift), (1, 2)) if self.shift else y)
        return x + self.norm2(self.mlp(x))


class Model(Swin):
    def __init__(self, *sizes):
        super().__init__(Block, *sizes, merge_first=False)


def get_init_inputs(size=FULL):
    return [size["image"], size["patch"], size["width"], size["counts"], size["heads"], size["window"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
