"""Attention of PyTorch's between the pixels of an image, and a norm."""
import torch
from torch import nn

FULL = {"batch": 2, "image": 128, "channels": 128, "heads": 4}
SMALL = {"batch": 2, "image": 4, "channels": 8, "heads": 2}


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(width, heads), nn.LayerNorm(width)

    def forward(self, x):
        y = x.flatten(2).permute(2, 0, 1)
        y = self.norm(self.attention(y, y, y)[0] + y)
        return y.permute(1, 2, 0).view(x.shape)


def get_init_inputs(size=FULL):
    return [size["channels"], size["heads"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
