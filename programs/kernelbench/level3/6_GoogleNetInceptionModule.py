"""One inception module of GoogLeNet (Szegedy et al. 2014)."""
import torch
from torch import nn

from parts import Inception

FULL = {"batch": 10, "image": 224, "channels": 480, "ways": (192, 96, 208, 16, 48, 64)}
SMALL = {"batch": 2, "image": 9, "channels": 12, "ways": (6, 4, 8, 2, 4, 4)}


class Model(nn.Module):
    def __init__(self, *widths):
        super().__init__()
        self.module = Inception(*widths)

    def forward(self, x):
        return self.module(x)


def get_init_inputs(size=FULL):
    return [size["channels"], *size["ways"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
