"""One step of a recurrent net (Elman 1990) that keeps its state in a buffer."""
import torch
from torch import nn

FULL = {"batch": 256, "given": 16384, "hidden": 16384, "wanted": 8192}
SMALL = {"batch": 4, "given": 12, "hidden": 16, "wanted": 8}


class Model(nn.Module):
    def __init__(self, batch, given, hidden, wanted):
        super().__init__()
        self.register_buffer("state", torch.randn(batch, hidden))
        self.step, self.out = nn.Linear(given + hidden, hidden), nn.Linear(hidden, wanted)

    def forward(self, x):
        self.state.copy_(torch.tanh(self.step(torch.cat([x, self.state], 1))))
        return self.out(self.state)


def get_init_inputs(size=FULL):
    return [size["batch"], size["given"], size["hidden"], size["wanted"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["given"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
