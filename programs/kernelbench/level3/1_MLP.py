"""Dense layers with ReLU between them."""
import torch
from torch import nn

from parts import layers

FULL = {"batch": 128, "given": 16384, "hidden": [16384, 16384], "wanted": 8192}
SMALL = {"batch": 4, "given": 24, "hidden": [32, 32], "wanted": 16}


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
