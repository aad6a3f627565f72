"""Recurrent nets in all their forms: what hone writes out as products and a loop, and what stays PyTorch's. Each function gives a module
and its inputs."""
import torch
from torch import nn


class Net(nn.Module):
    """Work around the net, as models have it, none of which is a part of the loop."""

    def __init__(self, net, wide):
        super().__init__()
        self.net, self.head = net, nn.Linear(wide, 3)

    def forward(self, x, *states):
        states = (states[0] if len(states) == 1 else states,) if states else ()
        every, last = self.net(torch.relu(x), *states)
        return self.head(every), every[..., -1, :], last


def lstm():
    return Net(nn.LSTM(6, 8, 2, batch_first=True), 8).eval(), [torch.randn(2, 7, 6)]


def lstm_both_ways():
    return Net(nn.LSTM(6, 5, 2, bidirectional=True, bias=False, dropout=0.5), 10).eval(), [torch.randn(5, 3, 6), torch.randn(4, 3, 5), torch.randn(4, 3, 5)]


def lstm_projected():
    return Net(nn.LSTM(6, 8, proj_size=4), 4).eval(), [torch.randn(5, 2, 6)]


def lstm_one_sample():
    return Net(nn.LSTM(6, 8), 8).eval(), [torch.randn(5, 6)]


def gru():
    return Net(nn.GRU(6, 8, 2), 8).eval(), [torch.randn(6, 2, 6), torch.randn(2, 2, 8)]


def gru_both_ways():
    return Net(nn.GRU(6, 4, 2, bidirectional=True, batch_first=True, bias=False), 8).eval(), [torch.randn(2, 5, 6)]


def tanh():
    return Net(nn.RNN(6, 8, 2), 8).eval(), [torch.randn(5, 2, 6)]


def relu():
    return Net(nn.RNN(6, 8, nonlinearity="relu", bidirectional=True), 16).eval(), [torch.randn(5, 2, 6)]


def one_step():
    return Net(nn.LSTM(6, 8), 8).eval(), [torch.randn(1, 2, 6)]


def long():
    """More steps than a task has inputs."""
    return Net(nn.GRU(2, 3), 3).eval(), [torch.randn(300, 2, 2)]


def half():
    return Net(nn.GRU(6, 8), 8).eval().bfloat16(), [torch.randn(5, 2, 6).bfloat16()]
