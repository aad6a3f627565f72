"""The state after Mamba-2's scan (Dao and Gu 2024)."""
import torch
from torch import nn

from parts import chunked_scan

FULL = {"batch": 2048, "length": 128, "heads": 8, "width": 64, "state": 16, "chunk": 64}
SMALL = {"batch": 2, "length": 12, "heads": 2, "width": 4, "state": 3, "chunk": 4}


class Model(nn.Module):
    def __init__(self, batch, length, heads, width, state, chunk):
        super().__init__()
        self.chunk = chunk
        self.decay = nn.Parameter(-torch.rand(batch, length, heads))
        self.b, self.c = (nn.Parameter(torch.randn(batch, length, heads, state)) for _ in range(2))

    def forward(self, x):
        return chunked_scan(x, self.decay, self.b, self.c, self.chunk)[1]


def get_init_inputs(size=FULL):
    return [size["batch"], size["length"], size["heads"], size["width"], size["state"], size["chunk"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["length"], size["heads"], size["width"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
