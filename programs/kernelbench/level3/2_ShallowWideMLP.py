"""Two wide hidden layers."""
import torch
from torch import nn

from parts import layers

FULL = {"batch": 128, "given": 16384, "hidden": [32768, 32768], "wanted": 16384}
SMALL = {"batch": 4, "given": 32, "hidden": [64, 64], "wanted": 32}


class Model(nn.Module):
    def __init__(self, given, hidden, wanted):
        super().__init__()
        self.net = layers(given, *hidden, wanted)

    def forward(self, x):
        return self.net(x)


def get_init_inputs(size=FULL):
    return [size["given"], size["hidden"], size["wanted"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["given"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
