"""EfficientNet-B2 (Tan and Le 2019)."""
import torch

from parts import EfficientNet

FULL = {"batch": 2, "image": 260, "wider": 1.1, "deeper": 1.2, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "wider": 0.25, "deeper": 0.6, "classes": 5}


class Model(EfficientNet):
    pass


def get_init_inputs(size=FULL):
    return [size["wider"], size["deeper"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
