"""hone for PyTorch: torch.compile(model, backend="hone").

What runs by a kernel, and why, is hone's own program's to decide; this package captures, runs and times what it is asked to.
"""
from __future__ import annotations

from ._backend import backend
from ._report import Report, report

__all__ = ["Report", "backend", "report"]
