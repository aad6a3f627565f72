"""Causal attention, written out (Vaswani et al. 2017)."""
import torch

from parts import CausalAttention

FULL = {"batch": 128, "length": 512, "width": 768, "heads": 8, "longest": 1024}
SMALL = {"batch": 2, "length": 7, "width": 16, "heads": 2, "longest": 9}


class Model(CausalAttention):
    pass


def get_init_inputs(size=FULL):
    return [size["width"], size["heads"], size["longest"]]


def get_inputs(size=FULL):
    return [torch.randn(size["batch"], size["length"], size["width"])]


def small():
    return Model(*get_init_inputs(SMALL)), get_inputs(SMALL)
