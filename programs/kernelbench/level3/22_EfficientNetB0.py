"""EfficientNet-B0 (Tan and Le 2019)."""
import torch

from parts import EfficientNet

FULL = {"batch": 10, "image": 224, "wider": 1.0, "deeper": 1.0, "classes": 1000}
SMALL = {"batch": 1, "image": 32, "wider": 0.125, "deeper": 0.25, "classes": 5}


class Model(EfficientNet):
    pass


def get_init_inputs(size=FULL):
    return [size["wider"], size["deeper"], size["classes"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], 3, size["image"], size["image"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
