"""Causal attention with ReLU in softmax's place (Wortsman et al. 2023)."""
import torch

from parts import CausalAttention

FULL = {"batch": 16, "length": 1024, "width": 768, "heads": 12, "longest": 1024}
SMALL = {"batch": 2, "length": 7, "width": 16, "heads": 2, "longest": 9}


class Model(CausalAttention):
    def __init__(self, *sizes):
        super().__init__(*sizes, relu=True)


def get_init_inputs(size=FULL):
    return [size["width"], size["heads"], size["longest"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["length"], size["width"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
