"""An LSTM (Hochreiter and Schmidhuber 1997), its last step classified."""
import torch
from torch import nn

from parts import Recurrent

FULL = {"batch": 10, "steps": 512, "given": 128, "width": 256, "depth": 6, "classes": 10}
SMALL = {"batch": 2, "steps": 5, "given": 6, "width": 8, "depth": 2, "classes": 4}


class Model(Recurrent):
    def __init__(self, *sizes):
        super().__init__(nn.LSTM, "last", *sizes)


def get_init_inputs(size=FULL):
    return [size["given"], size["width"], size["depth"], size["classes"]]


def get_inputs(size=FULL):
    state = (size["depth"], size["batch"], size["width"])
    return [torch.randn(size["batch"], size["steps"], size["given"]), torch.randn(state), torch.randn(state)]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
