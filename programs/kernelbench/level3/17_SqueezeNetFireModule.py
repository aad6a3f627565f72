"""One fire module of SqueezeNet (Iandola et al. 2016)."""
import torch

from parts import Fire

FULL = {"batch": 128, "image": 256, "channels": 3, "ways": (6, 64, 64)}
SMALL = {"batch": 2, "image": 12, "channels": 3, "ways": (4, 8, 8)}


class Model(Fire):
    pass


def get_init_inputs(size=FULL):
    return [size["channels"], *size["ways"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
