"""A block of ResNet-18 whose input has another width (He et al. 2015)."""
import torch
from torch import nn

from parts import basic_block

FULL = {"batch": 10, "image": 224, "channels": 3, "wanted": 64}
SMALL = {"batch": 2, "image": 10, "channels": 3, "wanted": 8}


class Model(nn.Module):
    def __init__(self, given, wanted):
        super().__init__()
        self.block = basic_block(given, wanted)

    def forward(self, x):
        return self.block(x)


def get_init_inputs(size=FULL):
    return [size["channels"], size["wanted"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
