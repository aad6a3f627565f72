"""NetVLAD (Arandjelović et al. 2015)."""
import torch

from parts import NetVLAD

FULL = {"batch": 2048, "count": 100, "width": 512, "clusters": 32, "ghosts": 0}
SMALL = {"batch": 2, "count": 9, "width": 16, "clusters": 4, "ghosts": 0}


class Model(NetVLAD):
    pass


def get_init_inputs(size=FULL):
    return [size["clusters"], size["width"], size["ghosts"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["count"], size["width"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
