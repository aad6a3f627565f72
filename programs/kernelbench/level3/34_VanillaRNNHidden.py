"""A recurrent net (Elman 1990), step by step from a state that is given."""
import torch
from torch import nn

FULL = {"steps": 256, "batch": 8, "given": 1024, "hidden": 256, "wanted": 128}
SMALL = {"steps": 5, "batch": 2, "given": 8, "hidden": 12, "wanted": 6}


class Model(nn.Module):
    def __init__(self, given, hidden, wanted):
        super().__init__()
        self.step, self.out = nn.Linear(given + hidden, hidden), nn.Linear(hidden, wanted)

    def forward(self, x, state):
        results = []
        for now in x:
            state = torch.tanh(self.step(torch.cat([now, state], 1)))
            results.append(self.out(state))
        return torch.stack(results)


def get_init_inputs(size=FULL):
    return [size["given"], size["hidden"], size["wanted"]]


def get_inputs(size=FULL):
    return [torch.randn(size["steps"], size["batch"], size["given"]), torch.randn(size["batch"], size["hidden"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
