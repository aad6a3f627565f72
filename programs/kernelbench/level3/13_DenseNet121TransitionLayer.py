"""A transition between DenseNet's blocks (Huang et al. 2016)."""
import torch
from torch import nn

from parts import transition

FULL = {"batch": 128, "image": 256, "channels": 32, "wanted": 64}
SMALL = {"batch": 2, "image": 8, "channels": 8, "wanted": 12}


class Model(nn.Module):
    def __init__(self, given, wanted):
        super().__init__()
        self.net = transition(given, wanted)

    def forward(self, x):
        return self.net(x)


def get_init_inputs(size=FULL):
    return [size["channels"], size["wanted"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
