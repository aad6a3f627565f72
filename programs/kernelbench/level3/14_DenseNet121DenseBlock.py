"""A dense block (Huang et al. 2016)."""
import torch

from parts import DenseBlock

FULL = {"batch": 10, "image": 224, "count": 6, "channels": 32, "growth": 32}
SMALL = {"batch": 1, "image": 8, "count": 6, "channels": 4, "growth": 4}


class Model(DenseBlock):
    pass


def get_init_inputs(size=FULL):
    return [size["count"], size["channels"], size["growth"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
