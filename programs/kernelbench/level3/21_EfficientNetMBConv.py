"""One block of EfficientNet, without its excitation (Tan and Le 2019)."""
import torch

from parts import Inverted

FULL = {"batch": 10, "image": 224, "channels": 112, "wanted": 192, "kernel": 5, "stride": 2, "expand": 6}
SMALL = {"batch": 1, "image": 10, "channels": 4, "wanted": 6, "kernel": 5, "stride": 2, "expand": 6}


class Model(Inverted):
    pass


def get_init_inputs(size=FULL):
    return [size["channels"], size["wanted"], size["kernel"], size["stride"], size["expand"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["channels"], size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
