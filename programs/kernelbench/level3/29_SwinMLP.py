"""Swin-MLP (Liu et al. 2021): in a window, positions are mixed by one small matrix a head."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import Swin, unwindowed, windows

FULL = {"batch": 10, "image": 224, "patch": 4, "width": 96, "counts": [2, 2, 6, 2], "heads": [3, 6, 12, 24], "window": 7, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "patch": 4, "width": 8, "counts": [2, 2], "heads": [2, 4], "window": 2, "classes": 5}


class Block(nn.Module):
    def __init__(self, width, heads, side, window, shift):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.norm, self.mix = nn.LayerNorm(width), nn.Conv1d(heads * window ** 2, heads * window ** 2, 1, groups=heads)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        size, h, w = self.window, x.shape[1], x.shape[2]
        y = self.norm(x)
        if self.shift:
            y = F.pad(y, (0, 0, size - self.shift, self.shift, size - self.shift, self.shift))
        wide = y.shape[1:3]
        y = windows(y, size).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        y = self.mix(y.flatten(1, 2)).unflatten(1, (self.heads, -1)).transpose(1, 2).flatten(2)
        y = unwindowed(y, size, *wide)
        if self.shift:
            y = y[:, size - self.shift:-self.shift, size - self.shift:-self.shift]
        x = x + y
        return x + self.mlp(x)


class Model(Swin):
    def __init__(self, *sizes):
        super().__init__(Block, *sizes, merge_first=True)


def get_init_inputs(size=FULL):
    return [size["image"], size["patch"], size["width"], size["counts"], size["heads"], size["window"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
