"""One unit of ShuffleNet (Zhang et al. 2017)."""
import torch

from parts import Shuffled

FULL = {"batch": 10, "image": 224, "channels": 240, "wanted": 480, "groups": 3}
SMALL = {"batch": 2, "image": 8, "channels": 12, "wanted": 24, "groups": 3}


class Model(Shuffled):
    pass


def get_init_inputs(size=FULL):
    return [size["channels"], size["wanted"], size["groups"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
