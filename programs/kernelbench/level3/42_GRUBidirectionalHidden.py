"""The states of a GRU in both directions."""
import torch
from torch import nn

from parts import Recurrent

FULL = {"batch": 10, "steps": 512, "given": 128, "width": 256, "depth": 6}
SMALL = {"batch": 2, "steps": 5, "given": 6, "width": 8, "depth": 2}


class Model(Recurrent):
    def __init__(self, *sizes):
        super().__init__(nn.GRU, "hidden", *sizes, both=True)


def get_init_inputs(size=FULL):
    return [size["given"], size["width"], size["depth"]]


def get_inputs(size=FULL):
    state = (2 * size["depth"], size["batch"], size["width"])
    return [torch.randn(size["steps"], size["batch"], size["given"]), torch.randn(state)]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
