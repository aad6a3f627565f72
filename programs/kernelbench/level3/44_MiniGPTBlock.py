"""A block of GPT-2 (Radford et al. 2019): norms before attention and the dense layers, GELU by tanh."""
import math

import torch
from torch import nn

from parts import CausalAttention

FULL = {"batch": 128, "length": 512, "width": 768, "heads": 8, "longest": 1024}
SMALL = {"batch": 2, "length": 7, "width": 16, "heads": 2, "longest": 9}


class Gelu(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class Model(nn.Module):
    def __init__(self, width, heads, longest):
        super().__init__()
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), CausalAttention(width, heads, longest), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), Gelu(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def get_init_inputs(size=FULL):
    return [size["width"], size["heads"], size["longest"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["length"], size["width"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
